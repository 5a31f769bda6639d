import SiteTools
import Testing
import WaystationHTTP

@testable import Crawler

@Suite("Frontier")
struct FrontierTests {
    private let inside = Scope.Finding(depth: 0, isInside: true)

    private func frontier(_ change: (inout CrawlSettings) -> Void = { _ in }) -> Frontier {
        var settings = CrawlSettings()
        settings.startURLs = ["http://a.example/"]
        settings.obeysRobots = false
        change(&settings)
        return Frontier(settings: settings)
    }

    private func link(_ url: String, _ kind: LinkKind = .page) throws -> FoundLink {
        FoundLink(url: try #require(CanonicalURL(page: url)), kind: kind)
    }

    private func rules(_ robots: String) -> RobotsRules {
        RobotsRules(status: 200, body: Array(robots.utf8), agent: "x")
    }

    @Test("a URL is loaded once, however often it is found")
    func once() throws {
        var frontier = frontier()
        #expect(frontier.discover(try link("http://a.example/x"), from: inside) == .added(0))
        #expect(frontier.discover(try link("http://A.example:80/x#y"), from: inside) == .known(0))
        #expect(frontier.next(now: .zero) == .load(id: 0, attempt: 1))
        #expect(frontier.next(now: .zero) == .blocked)
        frontier.finish(0, as: .loaded)
        #expect(frontier.discover(try link("http://a.example/x"), from: inside) == .known(0))
        #expect(frontier.next(now: .zero) == .finished)
    }

    @Test("requisites come before pages, shallow pages before deep ones")
    func order() throws {
        var frontier = frontier()
        _ = frontier.discover(try link("http://a.example/deep"), from: .init(depth: 4, isInside: true))
        _ = frontier.discover(try link("http://a.example/shallow"), from: inside)
        _ = frontier.discover(try link("http://a.example/x.css", .stylesheet), from: inside)
        let order = (0..<3).map { _ in frontier.next(now: .zero) }
        #expect(order == [.load(id: 2, attempt: 1), .load(id: 1, attempt: 1), .load(id: 0, attempt: 1)])
    }

    @Test("a host has at most the allowed number of loads at a time, and hosts take turns")
    func concurrency() throws {
        var frontier = frontier { $0.concurrency = 2 }
        for name in ["1", "2", "3"] { _ = frontier.discover(try link("http://a.example/" + name), from: inside) }
        _ = frontier.discover(try link("http://b.example/x.png", .image), from: inside)
        let first = (0..<4).map { _ in frontier.next(now: .zero) }
        #expect(first.contains(.load(id: 3, attempt: 1)))
        #expect(first.last == .blocked)
        frontier.finish(0, as: .loaded)
        #expect(frontier.next(now: .zero) == .load(id: 2, attempt: 1))
    }

    @Test("the rate and a Crawl-delay separate requests; the longer one counts")
    func rate() throws {
        var frontier = frontier {
            $0.requestsPerSecond = 2; $0.obeysRobots = true
        }
        for name in ["1", "2", "3"] { _ = frontier.discover(try link("http://a.example/" + name), from: inside) }
        #expect(frontier.next(now: .zero) == .askRobots(origin: "http://a.example"))
        #expect(frontier.next(now: .zero) == .blocked)
        frontier.setRobots(.known(.allowAll), for: "http://a.example")
        #expect(frontier.next(now: .zero) == .load(id: 0, attempt: 1))
        #expect(frontier.next(now: .zero) == .wait(until: .milliseconds(500)))
        #expect(frontier.next(now: .milliseconds(500)) == .load(id: 1, attempt: 1))
        frontier.finish(0, as: .loaded)
        frontier.finish(1, as: .loaded)
        frontier.setRobots(.known(rules("User-agent: *\nCrawl-delay: 9")), for: "http://a.example")
        #expect(frontier.next(now: .seconds(1)) == .load(id: 2, attempt: 1))
        _ = frontier.discover(try link("http://a.example/4"), from: inside)
        #expect(frontier.next(now: .seconds(9)) == .blocked)  // one at a time
        frontier.finish(2, as: .loaded)
        #expect(frontier.next(now: .seconds(9)) == .wait(until: .seconds(10)))
    }

    @Test("a URL that robots.txt disallows is refused at once, without delaying the host")
    func refusal() throws {
        var frontier = frontier { $0.requestsPerSecond = 1 }
        frontier.setRobots(.known(rules("User-agent: *\nDisallow: /no")), for: "http://a.example")
        for name in ["1", "no", "no2"] { _ = frontier.discover(try link("http://a.example/" + name), from: inside) }
        #expect(frontier.next(now: .zero) == .load(id: 0, attempt: 1))
        #expect(frontier.next(now: .zero) == .refuse(id: 1, reason: .disallowed))
        #expect(frontier.next(now: .zero) == .refuse(id: 2, reason: .disallowed))
    }

    @Test("a retry waits for its time, and pauses the whole host if the server asked for it")
    func retry() throws {
        var frontier = frontier()
        _ = frontier.discover(try link("http://a.example/1"), from: inside)
        _ = frontier.discover(try link("http://a.example/2"), from: inside)
        _ = frontier.next(now: .zero)
        frontier.retry(0, at: .seconds(5), pausesHost: true)
        #expect(frontier.next(now: .seconds(1)) == .wait(until: .seconds(5)))
        #expect(frontier.next(now: .seconds(5)) == .load(id: 1, attempt: 1))
        #expect(frontier.next(now: .seconds(5)) == .load(id: 0, attempt: 2))
        frontier.retry(0, at: .seconds(9), pausesHost: false)
        frontier.finish(1, as: .loaded)
        #expect(frontier.next(now: .seconds(6)) == .wait(until: .seconds(9)))
    }

    @Test("with a depth limit a level waits for those above it, so that depths are the shortest")
    func levels() throws {
        var frontier = frontier { $0.depth = 3 }
        _ = frontier.discover(try link("http://a.example/", .start), from: inside)
        _ = frontier.discover(try link("http://a.example/1"), from: inside)
        #expect(frontier.next(now: .zero) == .load(id: 0, attempt: 1))
        #expect(frontier.next(now: .zero) == .blocked)
        frontier.finish(0, as: .loaded)
        #expect(frontier.next(now: .zero) == .load(id: 1, attempt: 1))
    }

    @Test(
        "an unwanted link is loaded if a page needs it, and a page that was too deep if a shorter path is found"
    )
    func changes() throws {
        var frontier = frontier { $0.depth = 1 }
        let elsewhere = try link("http://b.example/x.png")
        #expect(frontier.discover(elsewhere, from: inside) == .added(0))
        #expect(frontier.resources[0].state == .outside)
        #expect(frontier.discover(FoundLink(url: elsewhere.url, kind: .image), from: inside) == .changed(0))
        let deep = try link("http://a.example/deep")
        #expect(frontier.discover(deep, from: .init(depth: 1, isInside: true)) == .added(1))
        #expect(frontier.resources[1].state == .tooDeep)
        #expect(frontier.discover(deep, from: inside) == .changed(1))
        #expect(frontier.resources[1].depth == 1)
    }

    @Test("failures of an earlier run are tried again, and a greater depth includes pages that were too deep")
    func restoring() throws {
        var frontier = frontier { $0.depth = 2 }
        let url = try #require(CanonicalURL(page: "http://a.example/x"))
        #expect(frontier.restore(Resource(id: 0, url: url, kind: .page, depth: 1, state: .failed)).state == .queued)
        let deep = try #require(CanonicalURL(page: "http://a.example/y"))
        #expect(frontier.restore(Resource(id: 1, url: deep, kind: .page, depth: 2, state: .tooDeep)).state == .queued)
        let deeper = try #require(CanonicalURL(page: "http://a.example/z"))
        #expect(
            frontier.restore(Resource(id: 2, url: deeper, kind: .page, depth: 3, state: .tooDeep)).state == .tooDeep
        )
    }
}
