import ArgumentParser
import Foundation

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Writes one self-contained HTML page about a crawl.",
        discussion: """
            The page has totals, a timeline, sizes by type, the slowest and the largest documents, broken links with \
            the pages that contain them, and the last offline check. It needs no network and no other file.
            """
    )

    @Argument(help: "The directory of a crawl.")
    var directory: String

    @Option(help: "The file of the report. Default: report.html in the directory.")
    var output: String?

    func run() async throws {
        let directory = URL(filePath: directory, directoryHint: .isDirectory)
        let file = output.map { URL(filePath: $0) } ?? directory.appending(path: "report.html")
        try SiteDirectory.writeReport(on: directory, to: file)
        Terminal().line(file.path)
    }
}
