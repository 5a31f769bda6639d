import Foundation
import Synchronization
import Testing
import WaystationRedis
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// Loads stale responses on several machines at the same moment, in many random orders.
///
/// In each round, some of the machines have the response on their disks, some have an older one, and some have none. The
/// origin confirms the response or has a newer one, and answers at once or when all loads have ended.
@Suite("Machines that load a stale response at the same moment", .timeLimit(.minutes(10)))
struct FleetRenewalTests {
    @Test("get it at once, renew it by one trip, and all have the renewed one afterwards")
    func renewals() async throws {
        // The tier's clock stands still, so that no lease ends early, however slow the machine is.
        let now = ContinuousClock.now
        try await renew(seeds: 0..<100, over: InMemoryTier { now })
    }

    #if Redis
    @Test("do so on a Redis server as well")
    func renewalsOnRedis() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let tier = try RedisTier(RedisOptions(host: "127.0.0.1", port: server.port))
        try await renew(seeds: 0..<50, over: LastingTier(tier: tier))
    }
    #endif

    private func renew(seeds: Range<UInt64>, over tier: any SharedTier) async throws {
        let pages = ChangingPages()
        let fleet = try FleetFixture { pages.answer($0) }
        var machines: [FleetFixture.Machine] = []
        for _ in 0..<4 { machines.append(try await fleet.machine { $0.tier = tier }) }
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            var round = Round(path: "/\(seed)", fleet: fleet, pages: pages, machines: machines)
            try await round.begin(on: Int.random(in: 0..<4, using: &generator))
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let faults = try await round.play(using: &generator)
                guard faults.isEmpty else {
                    Issue.record("seed \(seed): \(faults.joined(separator: "; "))")
                    return
                }
            }
        }
    }
}

/// The rounds with one page.
private struct Round {
    let path: String
    let fleet: FleetFixture
    let pages: ChangingPages
    let machines: [FleetFixture.Machine]
    /// The bodies that the machines have on their disks.
    private var stored: [Int: String] = [:]
    /// The body of the last response that all machines share.
    private var shared = ""
    private var trips = 0

    init(path: String, fleet: FleetFixture, pages: ChangingPages, machines: [FleetFixture.Machine]) {
        (self.path, self.fleet, self.pages, self.machines) = (path, fleet, pages, machines)
    }

    /// Loads the page for the first time.
    mutating func begin(on machine: Int) async throws {
        shared = try await fleet.load(path, on: machines[machine]).body
        stored[machine] = shared
        trips = 1
        await machines[machine].cache.flush()
    }

    /// Makes the response stale, and loads it on some of the machines.
    ///
    /// - Returns: The differences from what the fleet promises.
    mutating func play(using generator: inout SeededGenerator) async throws -> [String] {
        fleet.clock.advance(by: 20)
        if Bool.random(using: &generator) { pages.change(path) }
        let gate = try ScriptedOrigin.Gate()
        let isHeld = Int.random(in: 0..<4, using: &generator) > 0
        if isHeld { pages.hold(path, at: gate) }
        let players = (0..<4).shuffled(using: &generator).prefix(Int.random(in: 2...4, using: &generator))
        let renewed = pages.body(of: path)
        var loads: [(player: Int, turns: Int)] = []
        for player in players {
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                loads.append((player, Int.random(in: 0...12, using: &generator)))
            }
        }
        var faults: [String] = []
        for (player, got) in try await load(loads) {
            // While the origin does not answer, there is no other response.
            let expected = [stored[player] ?? shared] + (isHeld ? [] : [renewed])
            if !expected.contains(got.body) || !(got.isLocal || got.isShared) {
                faults.append("machine \(player) got \(got) first")
            }
        }
        gate.open()
        trips += 1
        for player in players {
            #expect(await isRenewed(on: player), "machine \(player) has not renewed \(path)")
        }
        for player in players {
            let got = try await fleet.load(path, on: machines[player])
            if got.body != renewed || got.age != "0" || !got.isLocal {
                faults.append("machine \(player) got \(got) after the renewal")
            }
            await machines[player].cache.flush()
            stored[player] = renewed
        }
        shared = renewed
        let count = pages.trips(of: path)
        if count != trips { faults.append("\(count) trips in place of \(trips)") }
        return faults
    }

    /// Loads the page on machines, each time after some turns of other tasks.
    private func load(_ loads: [(player: Int, turns: Int)]) async throws -> [(player: Int, got: FleetFixture.Got)] {
        try await withThrowingTaskGroup(of: (player: Int, got: FleetFixture.Got).self) { group in
            for (player, turns) in loads {
                group.addTask { [path, fleet, machines] in
                    for _ in 0..<turns { await Task.yield() }
                    return (player, try await fleet.load(path, on: machines[player]))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Waits until a machine has the renewed response, and no trip for it is under way.
    private func isRenewed(on player: Int) async -> Bool {
        let (cache, now) = (machines[player].cache, fleet.clock.now())
        let key = RequestKey(method: "GET", url: fleet.origin.url(path).absoluteString)
        return await eventually {
            let stored = await withCheckedContinuation { continuation in
                cache.store.lookup(key) { continuation.resume(returning: $0) }
            }
            return stored.contains { $0.head.responseTime == now }
                && machines[player].interceptor.sources.fetches?.waiterCount == 0
        }
    }
}

/// Pages that are fresh for ten seconds, and may be used stale for days; their bodies are the numbers of their changes.
private final class ChangingPages: Sendable {
    private struct Page {
        var change = 0
        var trips = 0
        var gate: ScriptedOrigin.Gate?
    }

    private let pages = Mutex<[String: Page]>([:])

    func change(_ path: String) { pages.withLock { $0[path, default: Page()].change += 1 } }
    func hold(_ path: String, at gate: ScriptedOrigin.Gate) { pages.withLock { $0[path, default: Page()].gate = gate } }
    func trips(of path: String) -> Int { pages.withLock { $0[path]?.trips ?? 0 } }
    func body(of path: String) -> String { pages.withLock { "\($0[path]?.change ?? 0)" } }

    func answer(_ request: ScriptedOrigin.Request) -> ScriptedOrigin.Response {
        let page = pages.withLock { pages in
            pages[request.path, default: Page()].trips += 1
            return pages[request.path, default: Page()]
        }
        let tag = "\"\(page.change)\""
        let fields: KeyValuePairs = [
            "Cache-Control": "public, max-age=10, stale-while-revalidate=1000000", "ETag": tag,
        ]
        let response: ScriptedOrigin.Response =
            request.value(of: "If-None-Match") == tag
            ? .status(304, fields: fields) : .ok("\(page.change)", fields: fields)
        return page.gate.map { response.held(at: $0) } ?? response
    }
}

#if Redis
/// A tier on Redis whose leases last however slow the machine of the test is.
private struct LastingTier: PunctualTier, TierWrapper {
    let tier: RedisTier

    var executor: any TaskExecutor { tier.executor }

    func expectValues(upTo size: Int) { tier.expectValues(upTo: size) }

    func lease(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        try await tier.lease(value, at: key, for: max(lifetime, .seconds(3_600)), until: deadline)
    }
}
#endif
