import ArgumentParser
import Foundation

struct OfflineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offline",
        abstract: "Loads a crawled site again without the network, and compares every byte.",
        discussion: """
            Every page and resource is loaded by the same code with the network denied, and its \
            SHA-256 is compared with the one of the crawl. The pages are read again too: every link within the scope \
            must lead to a stored response. Links that did not load in the crawl either are listed as broken and do \
            not count.

            The last line is: offline: N pages, M resources, 0 missing, 0 differing

            Exit codes: 0 nothing missing, nothing differing · 1 otherwise · 64 no crawl found · 130 interrupted.
            """
    )

    @Argument(help: "The directory of a crawl.")
    var directory: String

    @OptionGroup(title: "Output")
    var output: OutputOptions

    func run() async throws {
        let printer = OfflinePrinter(terminal: Terminal(), isQuiet: output.quiet, isJSON: output.json)
        let result: OfflineResult
        do {
            result = try await SiteDirectory.checkOffline(
                URL(filePath: directory, directoryHint: .isDirectory),
                printer: printer
            )
        } catch is CancellationError {
            throw ExitCode.interrupted
        }
        printer.show(result)
        if !result.isWhole { throw ExitCode.notWhole }
    }
}
