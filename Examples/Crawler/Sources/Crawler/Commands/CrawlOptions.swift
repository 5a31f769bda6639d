import ArgumentParser
import Foundation
import SiteTools
import WaystationRecording

struct ScopeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The extent of the site: page, prefix, host or domain.", valueName: "breadth"))
    var scope = Scope.Breadth.host

    @Option(help: ArgumentHelp("The greatest number of links between a start page and a loaded page.", valueName: "n"))
    var depth: Int?

    @Option(help: ArgumentHelp("Load only pages whose URL matches; repeatable.", valueName: "glob"))
    var include: [String] = []

    @Option(help: ArgumentHelp("Load nothing whose URL matches; repeatable.", valueName: "glob"))
    var exclude: [String] = []

    @Option(help: ArgumentHelp("Stop after this many pages.", valueName: "n"))
    var maxPages: Int?

    @Option(help: ArgumentHelp("Stop after this many bytes, such as 500MB.", valueName: "size"))
    var maxBytes: ByteLimit?

    @Option(help: ArgumentHelp("Stop after this time, such as 90s, 10m or 2h.", valueName: "time"))
    var maxTime: TimeLimit?

    func validate() throws {
        if let depth, depth < 0 {
            throw ValidationError("--depth must not be negative; 0 loads only the start pages.")
        }
        if let maxPages, maxPages < 1 { throw ValidationError("--max-pages must be at least 1.") }
    }

    func apply(to settings: inout CrawlSettings) {
        settings.scope = scope
        settings.depth = depth
        settings.include = include.map { Glob($0) }
        settings.exclude = exclude.map { Glob($0) }
        settings.maximumPages = maxPages
        settings.maximumBytes = maxBytes?.bytes
        settings.maximumSeconds = maxTime?.seconds
    }
}

extension Scope.Breadth: ExpressibleByArgument {}

struct PolitenessOptions: ParsableArguments {
    @Flag(help: "Do not ask for robots.txt.")
    var ignoreRobots = false

    @Flag(help: "Do not read sitemaps.")
    var noSitemaps = false

    @Option(help: ArgumentHelp("The number of simultaneous loads from one host.", valueName: "n"))
    var concurrency = 6

    @Option(help: ArgumentHelp("The maximum number of requests a second to one host.", valueName: "n"))
    var rate: Double?

    @Option(help: ArgumentHelp("The number of retries after a lost connection or a 5xx.", valueName: "n"))
    var retries = 4

    @Option(help: ArgumentHelp("Seconds without a byte after which a load fails.", valueName: "seconds"))
    var timeout = 30.0

    @Option(help: "The User-Agent field; the name before the version selects the rules of robots.txt.")
    var userAgent = CrawlSettings().userAgent

    func validate() throws {
        if !(1...64).contains(concurrency) { throw ValidationError("--concurrency must be between 1 and 64.") }
        if let rate, rate <= 0 { throw ValidationError("--rate must be above 0.") }
        if retries < 0 { throw ValidationError("--retries must not be negative.") }
        if timeout <= 0 { throw ValidationError("--timeout must be above 0.") }
    }

    func apply(to settings: inout CrawlSettings) {
        settings.obeysRobots = !ignoreRobots
        settings.readsSitemaps = !noSitemaps
        settings.concurrency = concurrency
        settings.requestsPerSecond = rate
        settings.retries = retries
        settings.timeout = timeout
        settings.userAgent = userAgent
    }
}

struct NetworkOptions: ParsableArguments {
    @Option(help: "What carries the requests: Foundation's own loader, or Waystation's engine on SwiftNIO.")
    var engine = SiteSession.Engine.foundation

    func validate() throws {
        #if !NIO
        guard engine == .foundation else {
            throw ValidationError(
                "This crawler was built without the engine on SwiftNIO. Build it with `swift build --traits NIO`."
            )
        }
        #endif
    }
}

extension SiteSession.Engine: ExpressibleByArgument {}

struct ArchiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also write the loads of this run to a WARC; compressed if it ends in .gz.",
            valueName: "file"
        )
    )
    var warc: String?

    @Option(help: ArgumentHelp("Also write the loads of this run to a WACZ.", valueName: "file"))
    var wacz: String?

    func validate() throws {
        if warc != nil, wacz != nil { throw ValidationError("Give --warc or --wacz: a WACZ has a WARC in it.") }
    }

    /// Begins the file; nil if none is asked for.
    ///
    /// An existing file is not replaced, since it may have what an earlier run has loaded and this one will not load again.
    func recorder() throws -> FileRecorder? {
        guard let path = warc ?? wacz else { return nil }
        let file = URL(filePath: path)
        guard !FileManager.default.fileExists(atPath: file.path) else {
            throw ValidationError(
                "\(path) exists. Name another file: a crawl that continues writes only what it loads from now on."
            )
        }
        do { return try FileRecorder(to: file, as: wacz == nil ? .warc : .wacz) } catch {
            Terminal().error("crawler: \(error.localizedDescription)")
            throw ExitCode.inputOutput
        }
    }
}

struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON object a line, for programs.")
    var json = false

    @Flag(help: "Print only the outcome.")
    var quiet = false

    var observer: any CrawlObserver {
        json ? CrawlJSONLines(terminal: Terminal()) : CrawlPrinter(terminal: Terminal(), isQuiet: quiet)
    }
}
