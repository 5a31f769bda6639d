import Foundation
import Testing
import WaystationRedis
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// Runs logins, log-outs, requests, changes and removals of two accounts on two machines in thousands of random orders.
///
/// The machines have a disk each and share one tier, also for responses that are meant for one user. Time limits end at
/// random, also those of the tier's calls.
@Suite("Interleaved requests of two accounts on two machines")
struct FleetInterleavingTests {
    @Test("exchange what is meant for all of them, and nothing that is meant for one account or was invalidated")
    func interleavings() async throws {
        let tierClock = ManualClock()
        let now = tierClock.instants
        try await interleave(rounds: 3_000, over: InMemoryTier(now: now), tierClock, now: now)
    }

    #if Redis
    @Test("do so on a Redis server as well")
    func interleavingsOnRedis() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let tier = try RedisTier(RedisOptions(host: "127.0.0.1", port: server.port))
        // The tier ends its calls by itself, by the system's clock.
        try await interleave(rounds: 1_000, over: tier, ManualClock(), now: { .now })
    }
    #endif

    private func interleave(
        rounds: Int,
        over tier: any SharedTier,
        _ tierClock: ManualClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) async throws {
        // The time limits of the tier's calls end more seldom than all others: most calls must work.
        let clock = ManualClock()
        let accounts = [FleetAccount("alice", seed: 1), FleetAccount("bob", seed: 2)]
        let machines = try (0..<2).map { _ in
            try FleetMember(tier, clock, tierClock.schedule, now: now, accounts)
        }
        let players = machines.flatMap(\.players)
        for machine in machines {
            #expect(await eventually { machine.cache.shared?.arrivals.isFollowed ?? false })
        }
        for seed in 0..<rounds {
            var generator = SeededGenerator(seed: UInt64(seed))
            let pending = PendingMoves()
            for _ in 0..<Int.random(in: 2...6, using: &generator) {
                let player = players[Int.random(in: 0..<players.count, using: &generator)]
                let move = FleetPlayer.Move.random(using: &generator)
                let number = Int.random(in: 0..<8, using: &generator)
                let turns = Int.random(in: 0...12, using: &generator)
                pending.begin("\(move) \(number)", afterTurns: turns) { await player.make(move, number) }
            }
            let patience = Int.random(in: 0...200, using: &generator)
            for _ in 0..<patience { await Task.yield() }
            // Moves that have not ended wait for a time limit or for an answer that is held back.
            let hanging = await pending.end {
                for account in accounts { account.release() }
                clock.fire()
                if Int.random(in: 0..<16, using: &generator) == 0 {
                    tierClock.advance(by: 0.01)
                    tierClock.fire()
                }
                for _ in 0..<20 { await Task.yield() }
            }
            guard hanging.isEmpty else {
                Issue.record("seed \(seed): \(hanging) do not end")
                return
            }
            let faults = accounts.flatMap(\.faults)
            guard faults.isEmpty else {
                Issue.record("seed \(seed): \(faults.prefix(5).joined(separator: "; "))")
                return
            }
        }
        for account in accounts {
            let counts = account.counts
            // Each kind of event has happened many times: without responses of the tier, nothing could cross.
            for kind in FleetAccount.Count.allCases {
                #expect(counts[kind, default: 0] > rounds / 100, "\(account.name): \(kind)")
            }
        }
    }
}

extension ManualClock {
    /// The clock's time as an instant of the continuous clock.
    fileprivate var instants: @Sendable () -> ContinuousClock.Instant {
        let (start, begin) = (ContinuousClock.now, now())
        return { start + .seconds(self.now().timeIntervalSince(begin)) }
    }
}

/// One machine: a cache on a disk of its own, which both accounts use.
private final class FleetMember: Sendable {
    let cache: ResponseCache
    let players: [FleetPlayer]
    private let folder: TemporaryDirectory

    init(
        _ tier: any SharedTier,
        _ clock: ManualClock,
        _ schedule: @escaping GuardedTier.Schedule,
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        _ accounts: [FleetAccount]
    ) throws {
        let folder = try TemporaryDirectory()
        self.folder = folder
        var sharing = ResponseCache.Sharing(in: tier, secret: FleetFixture.secret)
        sharing.includesPersonalResponses = true
        sharing.timeout = .seconds(10)
        sharing.schedule = schedule
        sharing.now = now
        let cache = try ResponseCache(directory: folder.url, environment: .patient, sharing: sharing)
        let removals = Removals()
        self.cache = cache
        players = try accounts.map { try FleetPlayer($0, cache, removals, clock) }
    }
}
