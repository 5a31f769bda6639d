import ArgumentParser
import Foundation

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Writes one self-contained HTML page about a crawl.",
        discussion: """
            Totals, timeline, sizes by type, the slowest and the biggest, what is broken and who links to it, and the \
            last offline check. The page needs no network and no other file.
            """
    )

    @Argument(help: "The directory that a crawl was made into.")
    var directory: String

    @Option(help: "Where to write it. Default: report.html in the directory.")
    var output: String?

    func run() async throws {
        let directory = URL(filePath: directory, directoryHint: .isDirectory)
        let file = output.map { URL(filePath: $0) } ?? directory.appending(path: "report.html")
        try SiteDirectory.writeReport(on: directory, to: file)
        Terminal().line(file.path)
    }
}
