import Foundation
import Testing
import WaystationProcesses
import WaystationTesting

@Suite("The first program")
struct TwoRunsTests {
    /// The program is next to the test bundle.
    private static var executable: URL {
        get throws {
            let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let candidates = [bundle, CommandLine.arguments[0]].map {
                URL(filePath: $0).resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "app")
            }
            return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
        }
    }

    @Test("loads the page again when its server is gone")
    func twice() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "first-load-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try ScriptedOrigin { _ in .ok("a page") }
        func run() throws -> String {
            let outcome = try SpawnedProcess.run(
                Self.executable.path,
                [origin.url("/page").absoluteString],
                in: folder,
                limit: 60
            )
            try #require(outcome.ending == .exited(0), "\(String(decoding: outcome.errors, as: UTF8.self))")
            return String(decoding: outcome.output, as: UTF8.self)
        }

        let first = try run()
        origin.stop()
        let second = try run()

        #expect(first.hasPrefix("6 bytes in "))
        #expect(first.contains("Cache-Status: Waystation; fwd=uri-miss; fwd-status=200; stored\n"))
        #expect(second.hasPrefix("6 bytes in "))
        #expect(second.contains("Cache-Status: Waystation; hit"))
        #expect(origin.requests.count == 1)
    }
}
