import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
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

    @Test("find out at once that nothing is stored, also for many loads at a time")
    func manyAtATime() async throws {
        let directory = try TemporaryDirectory()
        let cache = try ResponseCache(directory: directory.url)
        let network = ScriptedTransport { .ok($0.url?.path ?? "", fields: ["Cache-Control": "max-age=60"]) }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://memory.test/**", via: .cache(.standard))]
            $0.cache = cache
            $0.makeTransport = { _ in network }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        await cache.flush()
        cache.store.readQueue.suspend()
        defer { cache.store.readQueue.resume() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let url = try #require(URL(string: "http://memory.test/\(number)"))
                group.addTask {
                    let (body, _) = try await session.data(from: url)
                    #expect(String(decoding: body, as: UTF8.self) == "/\(number)")
                }
            }
            try await group.waitForAll()
        }
        #expect(network.requests.count == 20)
    }

    @Test("are made for the fourth task in a row that begins while no other is under way")
    func calm() throws {
        let visits = VisitsUnderWay()
        for expected in [false, false, false, true, true] {
            #expect(visits.begin() == expected)
            visits.end()
        }
        #expect(visits.begin())
        #expect(!visits.begin(), "the first one has not ended")
        visits.end()
        visits.end()
        for expected in [false, false, false, true] {
            #expect(visits.begin() == expected, "the row begins again")
            visits.end()
        }
    }

    @Test("know that a task's visit has ended, once, when its protocol takes it or the session drops it")
    func ends() throws {
        let visits = VisitsUnderWay()
        let request = URLRequest(url: try #require(URL(string: "http://memory.test/")))
        func begin() -> Bool {
            let isCalm = visits.begin()
            let prepared = PreparedVisit(Visit(Hop(request), .send), in: visits)
            if isCalm { _ = prepared.take() }
            return isCalm
        }
        for expected in [false, false, false, true, true, true] { #expect(begin() == expected) }
    }

    @Test("have no effect when the task was suspended before its protocol began, since the answer may be stale then")
    func expired() throws {
        let request = URLRequest(url: try #require(URL(string: "http://memory.test/")))
        let prepared = PreparedVisit(Visit(Hop(request), .send), in: VisitsUnderWay())
        #expect(prepared.take() != nil)
        prepared.expire()
        #expect(prepared.take() == nil)
    }
}
