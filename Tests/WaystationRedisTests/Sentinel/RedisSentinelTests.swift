#if Redis
import Foundation
import Testing
import WaystationRedis
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@Suite("A tier on a primary with sentinels", .timeLimit(.minutes(10)))
struct RedisSentinelTests {
    private var later: ContinuousClock.Instant { .now + .seconds(60) }

    @Test("is a tier that machines can share, also after the sentinels have replaced the primary")
    func conformance() async throws {
        let servers = try RedisSentinels()
        defer { servers.stop() }
        // One of those named does not answer.
        let silent = try await ScriptedRedis { _ in nil }
        var options = try RedisOptions.sentinel(master: RedisSentinels.name, servers.urls + [silent.url])
        options.connectTimeout = .seconds(60)
        options.database = 2
        let tier = try RedisTier(options)
        try await SharedTierConformance(of: tier).check()
        let channel = TierKey("waystation:channel")
        let messages = try await tier.subscribe(to: channel, until: later)
        let number = try await tier.publish(Data(), on: channel, isDurable: true, until: later)

        try servers.sentinels[0].run("SENTINEL", "FAILOVER", RedisSentinels.name)
        // The tier leaves the old primary by itself.
        await #expect(throws: TierError.self) { for try await _ in messages.messages {} }
        #expect(await eventually { tier.counts.failovers == 1 })
        var again: TierSubscription?
        #expect(
            await eventually {
                again = try? await tier.subscribe(to: channel, until: later)
                return again != nil
            }
        )
        #expect(again?.lastNumber == number)
        try await SharedTierConformance(of: tier).check()
        #expect(servers.replica.isPrimary)
        try await silent.stop()
    }
}
#endif
