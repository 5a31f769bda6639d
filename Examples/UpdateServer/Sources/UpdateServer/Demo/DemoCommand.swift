import ArgumentParser
import Foundation

/// Shows the whole platform with real web apps.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Publishes versions of a real web app, updates a client with each, and loads it offline."
    )

    @Option(help: "The folder with jupyterlab-4.2.3, jupyterlab-4.2.4 and jupyterlab-4.2.5.")
    var webApps: String

    func run() async throws {
        let versions = ["4.2.3", "4.2.4", "4.2.5"].map {
            URL(filePath: webApps).appending(path: "jupyterlab-\($0)", directoryHint: .isDirectory)
        }
        for format in PacksDemo.Format.allCases {
            let scratch = FileManager.default.temporaryDirectory.appending(path: "waystation-demo-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: scratch) }
            print("== \(format.rawValue)")
            let result = try await PacksDemo(versions: versions, format: format) { print($0) }.run(in: scratch)
            print(
                "packs: \(result.files) files, \(result.missing.count) missing, \(result.differing.count) differing"
            )
            guard result.missing.isEmpty, result.differing.isEmpty else { throw ExitCode.failure }
        }
    }
}
