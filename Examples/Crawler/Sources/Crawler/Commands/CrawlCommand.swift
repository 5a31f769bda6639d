import ArgumentParser
import Foundation
import SiteTools
import WaystationHTTP

struct CrawlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crawl",
        abstract: "Loads a site into a directory.",
        discussion: """
            Pages within the scope are followed; the files that they need (pictures, style sheets, scripts, fonts, \
            media, frames) are loaded from any host. An interrupted crawl continues with the same command, or with \
            only --into, and loads nothing again. It may continue with another --engine.

            A WACZ is played by ReplayWeb.page and pywb, a WARC is read by the programs of web archives. Either has the \
            loads of this run: of a crawl that was interrupted, `waystation cache export --as wacz` writes all that \
            DIR/http has.

            In --include and --exclude, * stands for any characters of the whole URL: --exclude '*/print/*'.

            Exit codes: 0 done, or stopped at a limit · 2 no start page could be loaded · 64 wrong usage · \
            74 the directory cannot be written, or another crawl is writing into it · 130 interrupted.
            """
    )

    @Argument(help: "The start pages. May be left out if the directory contains a crawl to continue.")
    var urls: [String] = []

    @Option(help: "The directory for the archive and the crawl's journal; created if missing.")
    var into: String

    @OptionGroup(title: "Scope")
    var scope: ScopeOptions

    @OptionGroup(title: "Politeness")
    var politeness: PolitenessOptions

    @OptionGroup(title: "Network")
    var network: NetworkOptions

    @OptionGroup(title: "Archive")
    var archive: ArchiveOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    func validate() throws {
        for url in urls where CanonicalURL(page: url) == nil {
            throw ValidationError("'\(url)' is not a valid http or https URL. Write it in full: https://example.org/")
        }
    }

    func run() async throws {
        let directory = URL(filePath: into, directoryHint: .isDirectory)
        let known = try SiteDirectory.settings(in: directory)
        var settings = known ?? CrawlSettings()
        if urls.isEmpty {
            guard known != nil else {
                throw ValidationError("\(into) contains no crawl to continue. Name a URL to start from.")
            }
        } else {
            settings = CrawlSettings()
            settings.startURLs = urls
            scope.apply(to: &settings)
            politeness.apply(to: &settings)
        }
        let summary = try await SiteDirectory.crawl(
            settings,
            into: directory,
            engine: network.engine,
            recorder: try archive.recorder(),
            observer: output.observer
        )
        if summary.end == .interrupted { throw ExitCode.interrupted }
        if summary.pages + summary.resources == 0 {
            Terminal().error("crawler: no start page could be loaded")
            throw ExitCode.nothingLoaded
        }
    }
}
