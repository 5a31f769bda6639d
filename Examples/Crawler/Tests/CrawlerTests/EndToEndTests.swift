import FlyingFox
import Foundation
import GRDB
import Synchronization
import Testing
import Waystation
import WaystationRecording
import WaystationTesting

@testable import Crawler
@testable import SiteTools

/// Tests with the small site of this package, which is served on loopback, crawled, and loaded again without the
/// server.
@Suite("A site, end to end")
struct EndToEndTests {
    @Test(
        "is crawled whole with one request for each URL, and loads offline byte for byte",
        arguments: SiteSession.Engine.allCases
    )
    func wholeSite(engine: SiteSession.Engine) async throws {
        try await withDirectory { directory in
            let counter = Counter()
            let summary = try await serve(counting: counter) { try await crawl($0, into: directory, by: engine) }
            #expect(summary.end == .complete)
            #expect(counter.repeated.isEmpty)
            #expect(counter.paths == Self.everything)
            #expect(summary.broken == 1)
            #expect(summary.disallowed == 1)
            #expect(summary.failed == 0)

            let result = try await check(directory)
            #expect(result.line == "offline: 21 pages, 31 resources, 0 missing, 0 differing")
            #expect(result.broken.map(\.url).map { URL(string: $0)?.path } == ["/gone.html"])
            #expect(result.broken.first?.referrers.map { URL(string: $0.url)?.path } == ["/", "/index.html"])
        }
    }

    @Test(
        "is written as a WACZ which, imported, loads offline as the crawl does",
        arguments: SiteSession.Engine.allCases
    )
    func archive(engine: SiteSession.Engine) async throws {
        try await withDirectory { directory in
            let file = FileManager.default.temporaryDirectory.appending(path: "crawler-\(UUID().uuidString).wacz")
            defer { try? FileManager.default.removeItem(at: file) }
            let recorder = try FileRecorder(to: file, as: .wacz)
            _ = try await serve { try await crawl($0, into: directory, by: engine, recorder) }
            try await recorder.finish()
            // The archive of the crawl is replaced with what the WACZ has.
            let archive = directory.appending(path: "http")
            try FileManager.default.removeItem(at: archive)
            let cache = try ResponseCache(directory: archive)
            let report = try await cache.importRecording(at: file)
            await cache.flush()
            #expect(Set(report.skipped.map(\.reason)) == [.status], "\(report.skipped)")
            #expect(try await check(directory).line == "offline: 21 pages, 31 resources, 0 missing, 0 differing")
        }
    }

    @Test("is crawled with the same records by either engine")
    func sameRecords() async throws {
        try await serve { address in
            var records: [SiteSession.Engine: [Record]] = [:]
            for engine in SiteSession.Engine.allCases {
                try await withDirectory { directory in
                    _ = try await crawl(address, into: directory, by: engine)
                    let journal = try Journal.open(in: directory)
                    records[engine] = try journal.loadRecords().map(Record.init).sorted { $0.url < $1.url }
                    try await journal.close()
                }
            }
            // The documents that load, and the broken link.
            #expect(records[.foundation]?.count == 53)
            #expect(records[.nio] == records[.foundation])
        }
    }

    @Test("is loaded by the engine that was chosen")
    func chosenEngine() async throws {
        // Foundation's engine accepts a repeated Content-Length, the one on SwiftNIO refuses it.
        let origin = try ScriptedOrigin { request in
            request.path == "/"
                ? .ok("hello", fields: ["Content-Type": "text/html", "Content-Length": "5"]) : .status(404)
        }
        for (engine, pages) in [(SiteSession.Engine.foundation, 1), (.nio, 0)] {
            try await withDirectory { directory in
                let address = "http://127.0.0.1:\(origin.port)"
                let summary = try await crawl(address, into: directory, by: engine) { $0.retries = 0 }
                #expect(summary.pages == pages)
                #expect(summary.failed == 1 - pages)
            }
        }
    }

    @Test(
        "in all encodings of the web is crawled whole, and loads offline",
        arguments: SiteSession.Engine.allCases
    )
    func encodings(engine: SiteSession.Engine) async throws {
        try await withDirectory { directory in
            let origin = try EncodedSite.serve()
            let summary = try await crawl("http://127.0.0.1:\(origin.port)", into: directory, by: engine) {
                $0.readsSitemaps = false
            }
            origin.stop()
            let targets = Set(origin.requests.map(\.target)).subtracting(["/robots.txt"])
            #expect(targets.subtracting(EncodedSite.targets) == [])
            #expect(EncodedSite.targets.subtracting(targets) == [])
            #expect(summary.pages == EncodedSite.pageCount)
            #expect(summary.broken + summary.failed == 0)

            let result = try await check(directory)
            #expect(result.missing.map(\.url) == [])
            #expect(result.differing.map(\.url) == [])
            #expect(result.pages == summary.pages)
            #expect(result.resources == summary.resources)
        }
    }

    @Test("is crawled along the Refresh fields of its responses", arguments: SiteSession.Engine.allCases)
    func refreshField(engine: SiteSession.Engine) async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/": .ok("", fields: ["Content-Type": "text/html", "Refresh": "0; url=/next?\u{E9}"])
            case "/next": .ok("", fields: ["Content-Type": "text/plain", "Refresh": "5;URL='last.html'"])
            case "/last.html": .ok("", fields: ["Content-Type": "text/html", "Refresh": "5"])
            default: .status(404)
            }
        }
        try await withDirectory { directory in
            let summary = try await crawl("http://127.0.0.1:\(origin.port)", into: directory, by: engine) {
                $0.readsSitemaps = false
            }
            #expect(summary.broken == 0)
            // The two bytes of the field are two characters.
            #expect(origin.requests.map(\.target) == ["/robots.txt", "/", "/next?%C3%83%C2%A9", "/last.html"])
            origin.stop()
            #expect(try await check(directory).isWhole)
        }
    }

    @Test(
        "continues after a crawl that stopped at a limit, by the same engine or another, and loads nothing twice",
        arguments: SiteSession.Engine.allCases,
        SiteSession.Engine.allCases
    )
    func resume(engine: SiteSession.Engine, then other: SiteSession.Engine) async throws {
        try await withDirectory { directory in
            let counter = Counter()
            try await serve(counting: counter) { address in
                let first = try await crawl(address, into: directory, by: engine) { $0.maximumPages = 4 }
                #expect(first.end == .pageLimit)
                #expect(first.pages == 4)
                #expect(first.leftOver > 0)
                let partial = try await check(directory)
                #expect(partial.isWhole)
                #expect(partial.leftOver == first.leftOver)

                let second = try await crawl(address, into: directory, by: other)
                #expect(second.end == .complete)
                #expect(second.pages == 21)
            }
            #expect(counter.repeated.isEmpty)
            #expect(counter.paths == Self.everything)
            #expect(try await check(directory).isWhole)
        }
    }

    @Test("continues after an interruption, and requests only the loads in flight again")
    func interruption() async throws {
        try await withDirectory { directory in
            let counter = Counter()
            try await serve(counting: counter) { address in
                let first = try await crawl(address, into: directory, interruptedAfter: 12) { $0.concurrency = 1 }
                #expect(first.end == .interrupted)
                #expect(first.leftOver > 0)
                #expect(try await crawl(address, into: directory).end == .complete)
            }
            #expect(counter.repeated.count <= 1)
            #expect(try await check(directory).line == "offline: 21 pages, 31 resources, 0 missing, 0 differing")
        }
    }

    @Test("is loaded from the archive if the crawl lost its journal")
    func lostJournal() async throws {
        try await withDirectory { directory in
            let counter = Counter()
            try await serve(counting: counter) { address in
                _ = try await crawl(address, into: directory)
                counter.reset()
                for name in ["crawl.sqlite", "crawl.sqlite-wal", "crawl.sqlite-shm"] {
                    try? FileManager.default.removeItem(at: directory.appending(path: name))
                }
                let again = try await crawl(address, into: directory)
                #expect(again.fromNetwork == 0)
                #expect(again.pages == 21)
            }
            // Errors are not archived, so this one is requested again.
            #expect(counter.paths == ["/gone.html"])
        }
    }

    @Test("is checked offline: lost responses are missing, with the pages that need them, and changed ones differ")
    func missing() async throws {
        try await withDirectory { directory in
            let address = try await serve { address in
                _ = try await crawl(address, into: directory)
                return address
            }
            let cache = try ResponseCache(directory: directory.appending(path: "http"), maximumAge: .days(3650))
            #expect(try await cache.remove(#require(URL(string: address + "/img/poster.svg"))) == 1)
            await cache.flush()
            let journal = try Journal.open(in: directory)
            try await journal.database.write {
                try $0.execute(sql: "UPDATE resource SET digest = x'00' WHERE url LIKE '%/main.js'")
            }
            try await journal.close()

            let result = try await check(directory)
            #expect(result.missing.map(\.url) == [address + "/img/poster.svg"])
            #expect(result.missing.first?.referrers.map(\.url) == [address + "/media.html"])
            #expect(result.differing.map(\.url) == [address + "/main.js"])
            #expect(!result.isWhole)
        }
    }

    @Test("is checked offline for pictures unknown to the crawl, by reading the pages again")
    func unseen() async throws {
        try await withDirectory { directory in
            let address = try await serve { address in
                _ = try await crawl(address, into: directory)
                return address
            }
            let journal = try Journal.open(in: directory)
            try await journal.database.write {
                try $0.execute(sql: "UPDATE resource SET state = 0 WHERE url LIKE '%/img/poster.svg'")
            }
            try await journal.close()
            #expect(try await check(directory).missing.map(\.url) == [address + "/img/poster.svg"])
        }
    }

    @Test("is crawled with the pauses that the server requests")
    func retryAfter() async throws {
        try await withDirectory { directory in
            let counter = Counter()
            let busy = CountingHandler(counter: counter, base: BusyOnce(path: "/listed.html", counter: counter))
            let summary = try await SiteServer.withServer(handler: busy) { try await crawl($0, into: directory) }
            #expect(summary.failed + summary.broken == 1)
            #expect(summary.pages == 21)
            #expect(counter.repeated == ["/listed.html"])
            #expect(try await check(directory).isWhole)
        }
    }

    @Test(
        "is crawled as far as scope and depth say",
        arguments: [
            (Scope.Breadth.page, Int?.none, 1), (.host, 0, 1), (.host, 1, 14),
        ]
    )
    func scope(breadth: Scope.Breadth, depth: Int?, pages: Int) async throws {
        try await withDirectory { directory in
            let summary = try await serve { address in
                try await crawl(address, into: directory) {
                    $0.scope = breadth
                    $0.depth = depth
                    $0.readsSitemaps = false
                }
            }
            #expect(summary.pages == pages)
            #expect(try await check(directory).isWhole)
        }
    }

    @Test("has a report that shows the outcome and needs no other files")
    func report() async throws {
        try await withDirectory { directory in
            _ = try await serve { try await crawl($0, into: directory) }
            _ = try await check(directory)
            let html = ReportPage(data: try ReportData(Journal.open(in: directory)), title: nil).html
            let links = Array(html.utf8).withUnsafeBufferPointer { HTMLLinks(html: $0).references }
            #expect(links.isEmpty)
            #expect(html.contains("Loads offline, byte for byte."))
            #expect(html.contains("/gone.html"))
            #expect(html.contains("<svg"))
        }
    }

    /// The requests of a crawl of the small site: every file but the private one, the moved page, and the broken link.
    static let everything: Set<String> = {
        let root = URL(filePath: DemoSite.smallSite, directoryHint: .isDirectory)
        let files = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        let isFile = { (path: String) in root.appending(path: path).hasDirectoryPath == false && path.contains(".") }
        var paths = Set(files.filter(isFile).map { "/" + $0 })
        paths.subtract(["/private/secret.html", "/sub/index.html", "/list.html"])
        paths = paths.filter { !$0.hasSuffix("/_redirects") && !$0.hasSuffix("/img/wide.svg") }
        return paths.union([
            "/", "/gone.html", "/old.html", "/sub", "/sub/", "/list.html?page=1", "/list.html?page=2&order=up",
            "/img/wide.svg?w=2000", "/img/wide.svg?w=800", "/img/paper.svg?from=style",
        ]).subtracting(["/img/paper.svg"])
    }()
}

// MARK: Shared by the tests

private func withDirectory(_ body: (URL) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(
        path: "crawler-tests-\(UUID().uuidString)",
        directoryHint: .isDirectory
    )
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory)
}

private func serve<Value: Sendable>(
    counting counter: Counter = Counter(),
    _ body: @Sendable (String) async throws -> Value
) async throws -> Value {
    let site = SiteHandler(root: URL(filePath: DemoSite.smallSite, directoryHint: .isDirectory))
    return try await SiteServer.withServer(handler: CountingHandler(counter: counter, base: site), body)
}

private func crawl(
    _ address: String,
    into directory: URL,
    by engine: SiteSession.Engine = .foundation,
    _ recorder: FileRecorder? = nil,
    interruptedAfter limit: Int? = nil,
    _ change: (inout CrawlSettings) -> Void = { _ in }
) async throws -> CrawlSummary {
    var settings = CrawlSettings()
    settings.startURLs = [address + "/"]
    // Longer than the longest delay of a request on a busy machine.
    settings.timeout = 600
    change(&settings)
    let session = try SiteSession(
        .crawl,
        directory: directory,
        settings: settings,
        engine: engine,
        recorder: recorder
    )
    let journal = try Journal.open(in: directory, settleArchive: session.settle)
    try journal.save(settings)
    let crawl = Crawl(
        settings: settings,
        journal: journal,
        loader: session.loader,
        observer: Interrupting(after: limit)
    )
    let result = await Task { try await crawl.run() }.result
    await session.settle()
    return try result.get()
}

private func check(_ directory: URL) async throws -> OfflineResult {
    try await SiteDirectory.checkOffline(
        directory,
        printer: OfflinePrinter(terminal: Terminal(), isQuiet: true, isJSON: false)
    )
}

/// The part of a load's record that does not depend on when and how fast it was loaded.
private struct Record: Equatable {
    let url: String
    let state: Resource.State
    let isPage: Bool
    let status: Int?
    let mimeType: String?
    let size: Int
    let digest: Data?
    let finalURL: String?

    init(_ record: LoadRecord) {
        url = record.url.string
        state = record.state
        isPage = record.isPage
        status = record.status
        mimeType = record.mimeType
        size = record.size
        digest = record.digest
        finalURL = record.finalURL?.string
    }
}

/// Cancels the crawl's own task after a number of documents; the events arrive in that task.
private final class Interrupting: CrawlObserver {
    private let remaining: Mutex<Int?>

    init(after limit: Int?) {
        remaining = Mutex(limit)
    }

    func observe(_ event: CrawlEvent) {
        guard case .settled = event else { return }
        let isDue = remaining.withLock { remaining in
            guard let count = remaining else { return false }
            remaining = count - 1
            return count == 1
        }
        if isDue { withUnsafeCurrentTask { $0?.cancel() } }
    }
}

/// The targets that a server was asked for, and how often.
private final class Counter: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// Counts a request; returns the number of earlier requests for the target.
    func count(_ target: String) -> Int {
        counts.withLock { counts in
            defer { counts[target, default: 0] += 1 }
            return counts[target] ?? 0
        }
    }

    func asked(_ target: String) -> Int { counts.withLock { $0[target] ?? 0 } }
    func reset() { counts.withLock { $0 = [:] } }
    var paths: Set<String> { counts.withLock { Set($0.keys) } }
    var repeated: Set<String> { counts.withLock { Set($0.filter { $0.value > 1 }.keys) } }
}

private struct CountingHandler<Base: HTTPHandler>: HTTPHandler {
    let counter: Counter
    let base: Base

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let target = request.target
        let query = target.query().isEmpty ? "" : "?" + target.query()
        _ = counter.count(target.path(percentEncoded: false) + query)
        return try await base.handleRequest(request)
    }
}

/// The small site, but the first request for one path is answered with `Retry-After`.
private struct BusyOnce: HTTPHandler {
    let path: String
    let counter: Counter
    private let site = SiteHandler(root: URL(filePath: DemoSite.smallSite, directoryHint: .isDirectory))

    init(path: String, counter: Counter) {
        self.path = path
        self.counter = counter
    }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.target.path() == path, counter.asked(path) == 1 else {
            return try await site.handleRequest(request)
        }
        return HTTPResponse(
            statusCode: .serviceUnavailable,
            headers: HTTPHeaders([HTTPHeader("Retry-After"): "0"]),
            body: Data()
        )
    }
}
