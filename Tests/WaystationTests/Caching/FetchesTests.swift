import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("Fetches that are under way", .timeLimit(.minutes(10)))
struct FetchesTests {
    private let directory: TemporaryDirectory
    private let clock = WatchedClock()

    init() throws { directory = try TemporaryDirectory() }

    private func interceptor(_ network: ScriptedTransport) throws -> Interceptor {
        try Interceptor {
            $0.rules = [.allow("http://fetch.test/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
            $0.now = { [clock] in clock.now() }
            $0.makeTransport = { _ in network }
        }
    }

    private func plan(_ interceptor: Interceptor) throws -> FetchPlan {
        try plan(interceptor, URLRequest("GET", "http://fetch.test/"))
    }

    private func plan(_ interceptor: Interceptor, _ request: URLRequest) throws -> FetchPlan {
        let canonical = try #require(CanonicalRequest(request))
        let presented = try #require(interceptor.sources.cacheRequest(request, canonical))
        return FetchPlan(request: request, presented: presented, variants: .none, strategy: .standard)
    }

    @Test("a load looks up again each time that another fetch has ended since its last look-up")
    func endedAgain() async throws {
        let count = Counter()
        let network = ScriptedTransport { _ in
            .ok("a", fields: ["Cache-Control": count.next() == 1 ? "no-store" : "max-age=60"])
        }
        let interceptor = try interceptor(network)
        let fetches = try #require(interceptor.sources.fetches)
        let behind = interceptor.makeNetwork(.ephemeral)
        let plan = try plan(interceptor)
        let (request, presented) = (plan.request, plan.presented)
        @Sendable func load() -> Answered {
            let answered = Answered()
            let stations = interceptor.makeStations(behind)
            let context = LoadContext(interceptor.environment, stations, behind, request, rule: 0)
            let journey = Journey(answered.client, context)
            journey.start()
            let ends = fetches.ends(of: presented.key)
            fetches.cache.store.lookup(presented.key) { responses in
                DispatchQueue.global().async {
                    let finding = CacheFinding(
                        .standard,
                        request,
                        presented,
                        StoredVariants(responses),
                        fetches.cache,
                        lookedUp: ends
                    )
                    guard case .fetch(let fetch) = finding.decision else { return }
                    journey.go(on: Visit(Hop(request, interceptor.matcher.match(request)), .fetch(finding, fetch)))
                }
            }
            return answered
        }
        // Between each look-up and the fetch that would follow it, another load makes that fetch. The second look-up is
        // decided on the store's queue, so the fetch there has no look-up of its own.
        clock.onNext { [clock] in
            load().wait()
            clock.onNext {
                let waiter = Waiter()
                _ = fetches.fetch(plan, for: waiter, isAlone: false, through: behind)
                waiter.waitForEnd()
            }
        }
        let last = load()
        #expect(await last.client.completion().last == .end(nil))
        // On a busy machine, a second of the lifetime may be over.
        #expect(last.cacheStatus?.hasPrefix("Waystation; hit; ttl=") == true)
        #expect(network.requests.count == 2)
    }

    @Test("a load that joins just after a fetch's end looks up again, since the response may be stored by now")
    func justAfterTheEnd() async throws {
        let gate = ScriptedTransport.Gate()
        let network = ScriptedTransport { _ in
            .init([.head(200, fields: ["Cache-Control": "max-age=60"]), .part(Data("a".utf8)), .wait(gate), .end])
        }
        let interceptor = try interceptor(network)
        let fetches = try #require(interceptor.sources.fetches)
        let behind = interceptor.makeNetwork(.ephemeral)
        var plan = try plan(interceptor)
        let key = plan.presented.key
        plan.lookedUp = fetches.ends(of: key)
        let ask = { @Sendable [plan] (waiter: Waiter) in
            fetches.fetch(plan, for: waiter, isAlone: false, through: behind)
        }
        let (first, second) = (Waiter(), Waiter())
        _ = ask(first)
        await network.waitForRequests(1)
        await first.arrival()
        // The next call of the clock comes from the code that counts the fetch's end; no load can join after that.
        let (participations, participation) = AsyncStream.makeStream(of: Fetches.Participation.self)
        clock.onNext { participation.yield(ask(second)) }
        gate.open()
        guard case .outdated? = await participations.first(where: { _ in true }) else {
            Issue.record("the second load makes a fetch of its own")
            return
        }
        #expect(network.requests.count == 1)
        #expect(await fetches.cache.store.lookup(key).count == 1)
    }

    @Test("a stale response is renewed also when fetches of other URLs end while its body is delivered")
    func renewedAfterOthers() async throws {
        let body = Data(repeating: 7, count: 1 << 20)
        let network = ScriptedTransport { request in
            guard request.url?.path == "/page" else { return .ok("other", fields: ["Cache-Control": "no-store"]) }
            let fields = ["Cache-Control": "max-age=0, stale-while-revalidate=600", "ETag": "\"a\""]
            return request.value(forHTTPHeaderField: "If-None-Match") == nil
                ? .status(200, fields: fields, body: body) : .status(304, fields: fields)
        }
        let interceptor = try interceptor(network)
        let fetches = try #require(interceptor.sources.fetches)
        let behind = interceptor.makeNetwork(.ephemeral)
        let page = try URLRequest("GET", "http://fetch.test/page")
        let key = try plan(interceptor, page).presented.key
        let first = RecordingJourneyClient()
        try Journey(first, page, by: interceptor, through: behind).begin()
        #expect(await first.completion().last == .end(nil))

        let client = RecordingJourneyClient()
        client.isReady = false
        let load = Journey(client, page, by: interceptor, through: behind)
        try load.begin()
        #expect(await eventually { load.state.withLock { !$0.course.isUnderWay($0.course.trip) } })
        // The number of ended fetches is counted for many keys together.
        let ends = fetches.ends(of: key)
        var number = 0
        while fetches.ends(of: key) == ends {
            number += 1
            let waiter = Waiter()
            let other = try plan(interceptor, URLRequest("GET", "http://fetch.test/\(number)"))
            _ = fetches.fetch(other, for: waiter, isAlone: false, through: behind)
            await waiter.end()
        }
        client.isReady = true
        load.continueDelivery()
        #expect(await client.completion().last == .end(nil))
        #expect(
            await eventually {
                network.requests.last?.url?.path == "/page"
                    && network.requests.last?.value(forHTTPHeaderField: "If-None-Match") == "\"a\""
            }
        )
    }

    @Test("a response that another fetch has renewed since the look-up is not renewed again")
    func renewedMeanwhile() async throws {
        let network = ScriptedTransport { request in
            let fields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
            return request.value(forHTTPHeaderField: "If-None-Match") == nil
                ? .ok("page", fields: fields) : .status(304, fields: fields)
        }
        let interceptor = try interceptor(network)
        let fetches = try #require(interceptor.sources.fetches)
        let behind = interceptor.makeNetwork(.ephemeral)
        let plan = try plan(interceptor)
        let waiter = Waiter()
        _ = fetches.fetch(plan, for: waiter, isAlone: false, through: behind)
        await waiter.end()
        let key = plan.presented.key
        let ends = fetches.ends(of: key)
        let finding = CacheFinding(
            .staleWhileRevalidate(upTo: .days(1)),
            plan.request,
            plan.presented,
            StoredVariants(await fetches.cache.store.lookup(key)),
            fetches.cache,
            lookedUp: ends
        )
        let renewal = try #require(finding.renewal)
        fetches.renew(renewal, through: behind)
        #expect(await eventually { fetches.ends(of: key) > ends })
        // A needless renewal begins on another queue, so that one may begin only after the checks; of twenty, some begin
        // before them.
        for _ in 0..<20 {
            fetches.renew(renewal, through: behind)
            // The second look-up has ended before this one.
            #expect(await fetches.cache.store.lookup(key).count == 1)
        }
        #expect(fetches.waiterCount == 0)
        #expect(network.requests.count == 2)
    }

    @Test("a load looks up again in place of waiting for the renewal of a response that was stored after its look-up")
    func renewedAfterLookUp() async throws {
        let gate = ScriptedTransport.Gate()
        let network = ScriptedTransport { request in
            let fields = ["Cache-Control": "max-age=0, stale-while-revalidate=600", "ETag": "\"a\""]
            return request.value(forHTTPHeaderField: "If-None-Match") == nil
                ? .ok("page", fields: fields) : .status(304, fields: fields).held(at: gate)
        }
        let interceptor = try interceptor(network)
        let fetches = try #require(interceptor.sources.fetches)
        let behind = interceptor.makeNetwork(.ephemeral)
        var plan = try plan(interceptor)
        let key = plan.presented.key
        plan.lookedUp = fetches.ends(of: key)
        let waiter = Waiter()
        _ = fetches.fetch(plan, for: waiter, isAlone: false, through: behind)
        await waiter.end()
        let finding = CacheFinding(
            .standard,
            plan.request,
            plan.presented,
            StoredVariants(await fetches.cache.store.lookup(key)),
            fetches.cache,
            lookedUp: fetches.ends(of: key)
        )
        fetches.renew(try #require(finding.renewal), through: behind)
        await network.waitForRequests(2)
        guard case .outdated = fetches.fetch(plan, for: Waiter(), isAlone: false, through: behind) else {
            Issue.record("the load waits for the origin")
            return
        }
        plan.lookedUp = fetches.ends(of: key)
        guard case .taken = fetches.fetch(plan, for: Waiter(), isAlone: false, through: behind) else {
            Issue.record("a load that needs the renewed response does not wait for it")
            return
        }
        #expect(network.requests.count == 2)
        gate.open()
    }

    /// A fetch that has not begun is no older than the change, so the load that made it may wait in it.
    @Test("an invalidation before the first load of a fetch keeps out other loads, but not the load that made it")
    func changedBeforeTheFirstLoad() async throws {
        let network = ScriptedTransport { _ in .ok("new", fields: ["Cache-Control": "max-age=60"]) }
        let interceptor = try interceptor(network)
        let cache = try #require(interceptor.sources.fetches?.cache)
        let plan = try plan(interceptor)
        let fetch = SharedFetch(plan, in: cache, through: interceptor.makeNetwork(.ephemeral)) { _ in }
        let (early, maker, late) = (Waiter(), Waiter(), Waiter())
        #expect(fetch.join(early) == .joined)
        cache.store.invalidate(.all)
        #expect(fetch.join(maker, asMaker: true) == .joined)
        #expect(fetch.join(late) == .tooLate)
        fetch.begin()
        await early.end()
        await maker.end()
        #expect(network.requests.count == 1)
    }

    @Test(
        "a waiter that only its fetch still holds is released outside of the fetch's lock, since its end may call out",
        arguments: [false, true]
    )
    func released(isStored: Bool) async throws {
        let (gate, next) = (ScriptedTransport.Gate(), ScriptedTransport.Gate())
        let fields = ["Cache-Control": isStored ? "max-age=60" : "no-store"]
        let network = ScriptedTransport { _ in
            .init([
                .wait(gate), .head(200, fields: fields), .part(Data("a".utf8)), .wait(next),
                .part(Data(count: 40 << 20)), .part(Data("b".utf8)), .end,
            ])
        }
        let interceptor = try interceptor(network)
        let fetches = try #require(interceptor.sources.fetches)
        let behind = interceptor.makeNetwork(.ephemeral)
        let (ends, ended) = AsyncStream.makeStream(of: Bool.self)
        let plan = try plan(interceptor)
        let begin = {
            let renewal = LastReference(ended)
            guard case .taken(let part) = fetches.fetch(plan, for: renewal, isAlone: false, through: behind) else {
                Issue.record("the fetch is outdated")
                return
            }
            renewal.fetch.withLock { $0 = (part as? SharedExchange)?.fetch }
        }
        begin()
        gate.open()
        next.open()
        #expect(await ends.first { _ in true } == true)
    }

    @Test("a renewal whose response is not stored is released, and so is its fetch", arguments: [false, true])
    func unstoredRenewal(isTooLarge: Bool) async throws {
        let gate = ScriptedTransport.Gate()
        let network = ScriptedTransport { _ in
            .init([
                .wait(gate), .head(200, fields: ["Cache-Control": isTooLarge ? "max-age=60" : "no-store"]),
                .part(Data(count: 11)), .part(Data(count: 11)), .end,
            ])
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://fetch.test/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(
                directory: directory.url,
                limits: StoreLimits(maximumEntrySize: .bytes(10)),
                environment: .patient
            )
            $0.makeTransport = { _ in network }
        }
        let fetches = try #require(interceptor.sources.fetches)
        weak var fetch: SharedFetch?
        weak var renewal: Renewal?
        do {
            let made = try #require(Renewal(under: nil))
            let behind = interceptor.makeNetwork(.ephemeral)
            switch fetches.fetch(try plan(interceptor), for: made, isAlone: false, through: behind) {
            case .outdated: Issue.record("the fetch is outdated")
            case .taken(let exchange):
                made.joined(exchange)
                (fetch, renewal) = ((exchange as? SharedExchange)?.fetch, made)
            }
        }
        #expect(fetch != nil && renewal != nil)
        gate.open()
        #expect(await eventually { fetch == nil && renewal == nil })
    }

    @Test("each load ends, however often its key is invalidated while it begins", arguments: [false, true])
    func changedAllTheTime(isAlone: Bool) async throws {
        let network = ScriptedTransport { _ in .ok("new", fields: ["Cache-Control": "no-store"]) }
        let interceptor = try interceptor(network)
        let fetches = try #require(interceptor.sources.fetches)
        let behind = interceptor.makeNetwork(.ephemeral)
        let plan = try plan(interceptor)
        let isOver = Atomic(false)
        let changes = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            while !isOver.load(ordering: .relaxed) {
                // One at a time: the store makes them in order, and would keep all that it has not made yet in memory.
                let isMade = DispatchSemaphore(value: 0)
                fetches.cache.store.invalidate(.all) { _ in isMade.signal() }
                isMade.wait()
            }
            changes.signal()
        }
        for _ in 0..<500 {
            let waiter = Waiter()
            _ = fetches.fetch(plan, for: waiter, isAlone: isAlone, through: behind)
            await waiter.end()
        }
        isOver.store(true, ordering: .relaxed)
        changes.wait()
    }
}

/// A clock that runs an action when it is read next.
private final class WatchedClock: Sendable {
    private let work = Mutex<(@Sendable () -> Void)?>(nil)

    func onNext(_ work: @escaping @Sendable () -> Void) { self.work.withLock { $0 = work } }

    func now() -> Date {
        work.withLock { $0.take() }?()
        return Date()
    }
}

/// A waiter of a fetch, whose first part of the body a test can await.
private final class Waiter: FetchWaiter {
    private let (parts, hasPart) = AsyncStream.makeStream(of: Void.self)

    var id: FetchWaiterID { FetchWaiterID(object: ObjectIdentifier(self), number: 0) }

    private let ended = DispatchSemaphore(value: 0)
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)

    func arrival() async { for await _ in parts { return } }

    func end() async { for await _ in ends { return } }

    /// Blocks the thread until the end.
    func waitForEnd() { ended.wait() }

    func transportDidReceive(_: ResponseHead) {}
    func transportDidReceive(_: Data) { hasPart.yield() }
    func transportDidEnd(_: (any Error)?) {
        ended.signal()
        end.yield()
    }

    func fetchDidAnswer(_: Answer) {}
    func fetchIsNotShared(_: UnsharedReason) {}
}

/// A renewal in the background that reports whether its fetch's lock was free when its last reference went.
private final class LastReference: FetchWaiter {
    let fetch = Mutex<SharedFetch?>(nil)
    private let ended: AsyncStream<Bool>.Continuation

    init(_ ended: AsyncStream<Bool>.Continuation) { self.ended = ended }

    deinit {
        let isFree = DispatchSemaphore(value: 0)
        if let fetch = fetch.withLock(\.self) {
            // Another thread can take the lock, unless this one holds it.
            DispatchQueue.global().async {
                fetch.state.withLock { _ in }
                isFree.signal()
            }
        }
        ended.yield(isFree.wait(timeout: .now() + .seconds(60)) == .success)
    }

    var id: FetchWaiterID { FetchWaiterID(object: ObjectIdentifier(self), number: 0) }
    var isLoad: Bool { false }

    func transportDidReceive(_: ResponseHead) {}
    func transportDidReceive(_: Data) {}
    func transportDidEnd(_: (any Error)?) {}
    func fetchDidAnswer(_: Answer) {}
    func fetchIsNotShared(_: UnsharedReason) {}
}

/// A load whose end a thread can wait for.
private struct Answered: Sendable {
    let client: RecordingJourneyClient
    private let ended = DispatchSemaphore(value: 0)
    private let status = Status()

    private final class Status: Sendable {
        let value = Mutex<String?>(nil)
    }

    init() {
        client = RecordingJourneyClient(
            accepts: { [status] head in
                status.value.withLock { $0 = head.value(forHTTPHeaderField: "Cache-Status") }
                return true
            },
            ended: { [ended] in ended.signal() }
        )
    }

    var cacheStatus: String? { status.value.withLock { $0 } }

    /// Blocks the thread until the end.
    func wait() { ended.wait() }
}
