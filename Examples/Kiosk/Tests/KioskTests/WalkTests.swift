import Foundation
import Synchronization
import Testing

@testable import Kiosk

@Suite("The walk through the kiosk", .timeLimit(.minutes(10)))
struct WalkTests {
    private let scratch: URL

    init() throws { scratch = try PageOptions.makeScratch() }

    /// The folder of JupyterLab as a static app.
    private static var lab: URL {
        get throws {
            let webApps = try #require(
                ProcessInfo.processInfo.environment["WEB_APPS"],
                "fetch them with Scripts/fetch-web-apps.sh and name the folder in WEB_APPS; `make test` does both"
            )
            return URL(filePath: webApps).appending(path: "jupyterlite-0.8.6", directoryHint: .isDirectory)
        }
    }

    @Test("shows the shop and JupyterLab online and offline without an error in the console, and reports each step")
    func whole() async throws {
        defer { try? FileManager.default.removeItem(at: scratch) }
        let lines = Mutex<[String]>([])
        let output = scratch.appending(path: "report")
        let walk = Walk(lab: try Self.lab, output: output) { line in lines.withLock { $0.append(line) } }
        let report = try String(contentsOf: try await walk.run(in: scratch), encoding: .utf8)
        let said = lines.withLock { $0 }
        #expect(said.count == 13)
        let server = try #require(said.first { $0.contains("JupyterLab comes from its server.") })
        #expect(!server.contains("hit"))
        let packs = said.filter { $0.contains("from the pack.") }
        // Online after the update, and offline.
        try #require(packs.count == 2)
        for pack in packs { #expect(pack.contains("Waystation; hit")) }
        #expect(said.count { $0.contains("POST /api/login") } == 1)
        for number in 1..<said.count {
            let name = String(format: "%02d.png", number)
            #expect(report.contains("<img src=\"\(name)\""))
            let picture = try Data(contentsOf: output.appending(path: name))
            #expect(picture.starts(with: [0x89, 0x50, 0x4e, 0x47]))
        }
    }

    @Test("needs JupyterLab as a static app, and says how to build it")
    func noLab() async throws {
        defer { try? FileManager.default.removeItem(at: scratch) }
        let walk = Walk(lab: scratch, output: scratch.appending(path: "report")) { _ in }
        let error = await #expect(throws: Unexpected.self) { try await walk.run(in: scratch) }
        #expect(error?.description.contains("make web-apps builds it") == true)
    }
}
