import Synchronization
import Testing
import WaystationStorage
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

    @Test("is left alone when its answers take more than half of the time limit", arguments: [true, false])
    func slow(isTooSlow: Bool) async {
        // The clock is read once before each call, and once after it.
        let time = Mutex((now: ContinuousClock.now, isEnd: false))
        let step: Duration = .milliseconds(isTooSlow ? 126 : 125)
        let events = Mutex<[TierEvent.Kind]>([])
        let tier = GuardedTier(
            InMemoryTier(),
            limit: .milliseconds(250),
            now: {
                time.withLock { time in
                    if time.isEnd { time.now += step }
                    time.isEnd.toggle()
                    return time.now
                }
            },
            schedule: { _, _ in },
            report: { event in events.withLock { $0.append(event.kind) } }
        )
        for _ in 0...CircuitBreaker.tolerated { #expect(await tier.get([TierKey("key")]) == [nil]) }
        #expect(events.withLock(\.self) == (isTooSlow ? [.suspended] : []))
        #expect(tier.works(.reading) != isTooSlow)
        #expect(await (tier.get([TierKey("key")]) == nil) == isTooSlow)
    }
}
