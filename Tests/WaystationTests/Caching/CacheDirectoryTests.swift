import Foundation
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The directory of a cache")
struct CacheDirectoryTests {
    private func error(for directory: URL) -> WaystationError? {
        #expect(throws: WaystationError.self) { try ResponseCache(directory: directory) }
    }

    @Test(
        "that is unusable is an error with the path and the reason",
        arguments: [
            ("/proc/nope/x", "No such file or directory"), ("/dev/null", "Not a directory"),
            ("/dev/null/cache", "Not a directory"), ("/tmp", "may write to this directory"),
        ]
    )
    func unusable(path: String, reason: String) throws {
        // If the test does not run as root, the reason is that /tmp belongs to another user.
        let isForeign = path == "/tmp" && geteuid() != 0
        let error = error(for: URL(filePath: path, directoryHint: .isDirectory))
        #expect(error?.code == .unusableDirectory)
        #expect(error?.message.contains("\(path) cannot hold a store") == true)
        #expect(error?.message.contains(isForeign ? "belongs to user" : reason) == true)
    }

    @Test("that is a symbolic link is an error; a directory below a symbolic link is not")
    func link() throws {
        let real = try TemporaryDirectory()
        let link = real.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real.url)
        #expect(error(for: link)?.message.contains("symbolic link") == true)
        _ = try ResponseCache(directory: link.appending(path: "cache"))
    }
}
