import Foundation
import FoundationNetworking
import Testing
import WaystationTesting

@testable import Waystation
@testable import WaystationStorage

@Suite("Look-ups on the loading queue", .timeLimit(.minutes(10)))
struct MemoryLookUpTests {
    @Test("answer the loads of a session that has one at a time, also while the store's queue is busy")
    func oneAtATime() async throws {
        let directory = try TemporaryDirectory()
        let cache = try ResponseCache(directory: directory.url, memorySize: .bytes(0))
        let network = ScriptedTransport { .ok($0.url?.path ?? "", fields: ["Cache-Control": "max-age=60"]) }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://memory.test/**", via: .cache(.standard))]
            $0.cache = cache
            $0.makeTransport = { _ in network }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let url = try #require(URL(string: "http://memory.test/a"))
        _ = try await session.data(from: url)
        await cache.flush()
        // The first loads of a session are not known to be alone.
        for _ in 0..<5 { _ = try await session.data(from: url) }
        cache.store.readQueue.suspend()
        defer { cache.store.readQueue.resume() }
        let (body, response) = try await session.data(from: url)
        #expect(String(decoding: body, as: UTF8.self) == "/a")
        let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
        #expect(status?.contains("hit") == true)
        #expect(network.requests.count == 1)
    }

    @Test("are made for the fourth task in a row that begins while no other is under way")
    func calm() {
        let visits = VisitsUnderWay()
        for expected in [false, false, false, true, true] {
            let (place, isCalm) = visits.begin()
            #expect(isCalm == expected)
            place.leave()
            place.leave()
        }
        do {
            let (first, isCalm) = visits.begin()
            #expect(isCalm)
            #expect(!visits.begin().isCalm, "the first one has not left")
            withExtendedLifetime(first) {}
        }
        #expect(!visits.begin().isCalm, "places that are dropped count as left, and the row begins again")
        for _ in 0..<2 { #expect(!visits.begin().isCalm) }
        #expect(visits.begin().isCalm)
    }
}
