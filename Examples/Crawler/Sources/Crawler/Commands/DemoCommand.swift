import ArgumentParser
import Foundation

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Serves a site on loopback, crawls it, stops the server and loads everything offline.",
        discussion: """
            Ends with two lines: the outcome of the offline check, and the path of the report.

            The exit codes are those of the command offline.
            """
    )

    @Option(
        help: "A directory with a web site. Default: the SQLite documentation if installed, otherwise a small site."
    )
    var site: String?

    @Option(help: "The directory to crawl into, emptied first. Default: a new one in the temporary directory.")
    var into: String?

    @OptionGroup(title: "Network")
    var network: NetworkOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    func run() async throws {
        let terminal = Terminal()
        let root = try DemoSite.root(site)
        let directory = try freshDirectory()
        if !output.quiet, !output.json { terminal.line("serving \(root.path) on loopback") }

        let summary = try await SiteServer.withServer(for: root) { address in
            var settings = CrawlSettings()
            settings.startURLs = [address + "/"]
            return try await SiteDirectory.crawl(
                settings,
                into: directory,
                engine: network.engine,
                observer: output.observer
            )
        }
        if summary.end == .interrupted { throw ExitCode.interrupted }
        if !output.quiet, !output.json { terminal.line("server stopped; loading everything again without it") }

        let printer = OfflinePrinter(terminal: terminal, isQuiet: output.quiet, isJSON: output.json)
        let result = try await SiteDirectory.checkOffline(directory, printer: printer)
        let report = directory.appending(path: "report.html")
        try SiteDirectory.writeReport(on: directory, to: report)
        printer.show(result)
        terminal.line(report.path)
        if !result.isWhole { throw ExitCode.notWhole }
        if summary.pages + summary.resources == 0 { throw ExitCode.nothingLoaded }
    }

    private func freshDirectory() throws -> URL {
        let files = FileManager.default
        guard let into else {
            let name = "crawler-demo-\(UUID().uuidString.prefix(8).lowercased())"
            return files.temporaryDirectory.appending(path: name, directoryHint: .isDirectory)
        }
        let directory = URL(filePath: into, directoryHint: .isDirectory)
        guard files.fileExists(atPath: directory.path) else { return directory }
        // Only a directory that a crawl made is removed, so that a mistyped path cannot delete other files.
        let isOurs = try Journal.exists(in: directory) || files.contentsOfDirectory(atPath: directory.path).isEmpty
        guard isOurs else {
            throw ValidationError("\(directory.path) is not empty and contains no crawl. Name another directory.")
        }
        try files.removeItem(at: directory)
        return directory
    }
}
