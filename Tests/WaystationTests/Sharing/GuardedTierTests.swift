import Synchronization
import Testing
import WaystationSharing
import WaystationTesting

@Suite("A tier that is guarded")
struct GuardedTierTests {
    @Test("has more time for a subscription, for which no load waits, than for other calls")
    func subscribing() async {
        let limits = Mutex<[Duration]>([])
        let tier = GuardedTier(
            InMemoryTier(),
            limit: .milliseconds(250),
            now: { .now },
            schedule: { limit, _ in limits.withLock { $0.append(limit) } },
            report: { _ in }
        )
        #expect(await tier.subscribe(to: TierKey("channel")) != nil)
        #expect(await tier.get([TierKey("key")]) != nil)
        #expect(limits.withLock { $0 } == [.seconds(5), .milliseconds(250)])
    }
}
