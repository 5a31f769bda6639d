#if Gateway
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
@testable import WaystationGateway

@Suite("The log of an inspector's loads")
struct LoadLogTests {
    private func exchange(_ path: String = "/", bytes: Int = 0) throws -> RecordedExchange {
        var request = URLRequest(url: try #require(URL(string: "https://shop.example\(path)")))
        request.httpBody = Data(count: 100)
        request.setValue(String(repeating: "x", count: bytes), forHTTPHeaderField: "X-Long")
        return RecordedExchange(request: request, body: Data(count: 100), begun: Date(timeIntervalSince1970: 0))
    }

    @Test("keeps the latest 1,000 loads and the last 100 bodies, and counts loads that a slow reader misses")
    func bound() throws {
        let log = LoadLog()
        for _ in 0..<1_500 { log.exchangeDidEnd(try exchange()) }
        #expect(log.all.count == 1_000)
        #expect(log.all.allSatisfy { $0.exchange.request.httpBody == nil })
        #expect(log.all.filter { $0.exchange.body != nil }.map(\.number) == Array(1_401...1_500))
        let news = log.news(after: 100, limit: 50)
        #expect(news.loads.map(\.number) == Array(501...550))
        #expect(news.missed == 400)
        #expect(log.news(after: 550, limit: 50).missed == 0)
        // A reader may name any number.
        #expect(log.news(after: .max, limit: 50).loads.isEmpty)
        #expect(log.news(after: .min, limit: 1).loads.map(\.number) == [501])
        #expect(log.load(500) == nil)
        #expect(log.load(501) != nil)
    }

    @Test("keeps no more than 8 MiB of heads, but always the last load")
    func bytes() throws {
        let log = LoadLog()
        for _ in 0..<20 { log.exchangeDidEnd(try exchange(bytes: 1 << 20)) }
        #expect((1...8).contains(log.all.count))
        log.exchangeDidEnd(try exchange(bytes: 20 << 20))
        #expect(log.all.map(\.number) == [21])
    }

    @Test("does not count loads that were cleared as missed")
    func clearing() throws {
        let log = LoadLog()
        for _ in 0..<3 { log.exchangeDidEnd(try exchange()) }
        log.clear()
        log.exchangeDidEnd(try exchange())
        let news = log.news(after: 1, limit: 10)
        #expect(news.isStale)
        #expect(!log.news(after: 0, limit: 10).isStale)
        #expect(!log.news(after: 4, limit: 10).isStale)
        #expect(news.loads.map(\.number) == [4])
        #expect(news.missed == 0)
        #expect(news.clears == 1)
    }

    @Test("wakes its readers until they leave")
    func readers() throws {
        let log = LoadLog()
        let count = Mutex(0)
        let leave = log.listen { count.withLock { $0 += 1 } }
        log.exchangeDidEnd(try exchange())
        log.clear()
        leave()
        log.exchangeDidEnd(try exchange())
        #expect(count.withLock { $0 } == 2)
    }
}

@Suite("The words for a Cache-Status")
struct CacheStatusWordsTests {
    @Test(
        "explain what the cache did",
        arguments: [
            ("Waystation; hit", "Answered without the network."),
            ("Waystation; hit; ttl=60", "Answered without the network; fresh for 60 s more."),
            ("Waystation; hit; ttl=-7300", "Answered without the network; stale since 2 h."),
            (
                "edge; hit, Waystation; fwd=uri-miss; stored",
                "Nothing was stored for the URL, so the origin was asked; the response was stored."
            ),
            (
                "Waystation; fwd=stale; fwd-status=304; collapsed",
                "The stored response was stale, so the origin was asked; the stored response is still valid; it shared a request that was under way."
            ),
            (
                "Waystation; fwd=stale; ttl=-90",
                "The stored response was stale, so the origin was asked; it gave no answer; stale since 90 s."
            ), ("Waystation; hit; detail=\"a, b; hit\"", "Answered without the network (\"a, b; hit\")."), ("", ""),
            // An origin writes what it likes.
            (
                "edge; hit; ttl=-9223372036854775808; a=\", Waystation; fwd=uri-miss",
                "Nothing was stored for the URL, so the origin was asked."
            ), ("edge; hit", ""),
            (
                "Waystation; hit; ttl=-9223372036854775808",
                "Answered without the network; stale since 106751991167300 days."
            ),
        ]
    )
    func words(field: String, words: String) { #expect(CacheStatusWords.words(field) == words) }
}
#endif
