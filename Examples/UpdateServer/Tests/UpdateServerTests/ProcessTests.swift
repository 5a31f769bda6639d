import Foundation
import Testing
import WaystationPacks
import WaystationProcesses
import WaystationPublishing

@testable import UpdateServer

@Suite("The process")
struct ProcessTests {
    /// The server's program is next to the test bundle.
    private static var executable: URL {
        get throws {
            let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let candidates = [bundle, CommandLine.arguments[0]].map {
                URL(filePath: $0).resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "update-server")
            }
            return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
        }
    }

    private func server(in platform: Platform, token: String) throws -> SpawnedProcess {
        let key = platform.folder.appending(path: "release.key")
        try KeyFile.write(platform.key, to: key)
        return try SpawnedProcess(
            Self.executable.path,
            ["--releases", platform.root.path, "--key", key.path, "--port", "0"],
            environment: ProcessInfo.processInfo.environment.merging(["UPDATE_SERVER_TOKEN": token]) { $1 },
            output: .lines
        )
    }

    @Test("prints its address, serves there on loopback, and shuts down cleanly on a signal")
    func life() async throws {
        let platform = try Platform()
        let process = try server(in: platform, token: Platform.token)
        let line = try #require(process.readLine())
        let match = try #require(line.wholeMatch(of: #/listening at (http:\/\/127\.0\.0\.1:\d+\/)/#), "\(line)")
        let address = try #require(URL(string: String(match.output.1)))
        let source = CatalogueSource(
            address.appending(path: "catalogue.json"),
            trusting: [platform.key.trusted]
        )
        let inquiry = UpdateInquiry(
            app: AppIdentity(code: "shop", version: try #require(PackVersion("1.0"))),
            modules: [],
            installID: "one"
        )
        #expect(try await source.check(inquiry).catalogueState?.serial == 1)
        process.send(SIGTERM)
        #expect(process.wait() == .exited(0))
    }

    @Test("does not start with a token that can be guessed")
    func weakToken() throws {
        let platform = try Platform()
        let process = try server(in: platform, token: "secret")
        #expect(process.wait() == .exited(64))
        #expect(!FileManager.default.fileExists(atPath: platform.root.path))
    }
}
