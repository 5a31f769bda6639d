import Foundation
import Testing
import WaystationPacks

@testable import UpdateServer

@Suite("Real web apps, from the first pack to the last load offline")
struct EndToEndTests {
    @Test(
        "an app follows updates in each format, follows rollbacks, and loads every file offline",
        arguments: PacksDemo.Format.allCases
    )
    func demo(_ format: PacksDemo.Format) async throws {
        let webApps = try #require(
            ProcessInfo.processInfo.environment["WEB_APPS"],
            "fetch them with Scripts/fetch-web-apps.sh and name the folder in WEB_APPS; `make test` does both"
        )
        let scratch = FileManager.default.temporaryDirectory.appending(path: "waystation-e2e-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let versions = ["4.2.3", "4.2.4", "4.2.5"].map {
            URL(filePath: webApps).appending(path: "jupyterlab-\($0)", directoryHint: .isDirectory)
        }
        let result = try await PacksDemo(versions: versions, format: format) { _ in }.run(in: scratch)
        #expect(result.files > 200)
        #expect(result.missing.isEmpty)
        #expect(result.differing.isEmpty)
        let ways = result.fetched.map(\.way)
        switch format {
        case .catalogue:
            #expect(ways == ["whole", "contentPatch", "contentPatch"])
            #expect(try #require(result.fetched.last).bytes < 20_000)
        case .modules, .package: #expect(ways == ["whole", "zipPatch", "zipPatch"])
        }
    }
}
