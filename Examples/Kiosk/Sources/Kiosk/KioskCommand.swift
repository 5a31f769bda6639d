import ArgumentParser
import Foundation
import Logging

/// The program.
@main
struct KioskCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kiosk",
        abstract: "A kiosk whose browser shows a shop and JupyterLab through a gateway.",
        subcommands: [DemoCommand.self, ShowCommand.self]
    )
}

/// Runs the kiosk without a window, and writes a report.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Opens all pages in a browser without a window, stops their servers, and opens them again."
    )

    @OptionGroup var pages: PageOptions

    @Option(help: "The folder for the report and its pictures.")
    var output: String

    func run() async throws {
        // The walk goes offline on purpose and says so itself, so log messages would only repeat it.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let scratch = try PageOptions.makeScratch()
        defer { try? FileManager.default.removeItem(at: scratch) }
        let walk = Walk(lab: pages.folder, output: URL(filePath: output)) { print($0) }
        print("every page was shown, without an error: \(try await walk.run(in: scratch).path)")
    }
}

/// The pages that a kiosk shows.
struct PageOptions: ParsableArguments {
    @Option(help: "The folder of JupyterLab as a static app, as `make web-apps` builds it.")
    var lab: String

    var folder: URL { URL(filePath: lab, directoryHint: .isDirectory) }

    static func makeScratch() throws -> URL {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "waystation-kiosk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        return scratch
    }
}
