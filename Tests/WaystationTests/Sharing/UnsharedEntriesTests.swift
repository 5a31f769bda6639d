import Testing
import WaystationStorage

@testable import Waystation

@Suite("The entries whose responses could not be shared")
struct UnsharedEntriesTests {
    @Test("are forgotten after a minute, or when a response can be shared")
    func lifetime() {
        let now = ContinuousClock.now
        var entries = UnsharedEntries()
        #expect(entries.isEmpty)
        entries.insert(TierKey("a"), at: now)
        entries.insert(TierKey("b"), at: now)
        #expect(!entries.isEmpty)
        #expect(entries.contains(TierKey("a"), at: now + .seconds(59)))
        #expect(!entries.contains(TierKey("a"), at: now + .seconds(60)))
        entries.remove(TierKey("b"))
        #expect(!entries.contains(TierKey("b"), at: now))
        entries.insert(TierKey("a"), at: now + .seconds(30))
        #expect(entries.contains(TierKey("a"), at: now + .seconds(89)))
    }

    @Test("replace the oldest ones beyond their limit")
    func limit() {
        let now = ContinuousClock.now
        var entries = UnsharedEntries()
        for number in 0...UnsharedEntries.limit { entries.insert(TierKey("\(number)"), at: now) }
        #expect(!entries.contains(TierKey("0"), at: now))
        #expect(entries.contains(TierKey("1"), at: now))
        #expect(entries.contains(TierKey("\(UnsharedEntries.limit)"), at: now))
    }
}
