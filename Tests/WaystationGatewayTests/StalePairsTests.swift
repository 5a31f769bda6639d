#if Gateway
import Testing

@testable import WaystationGateway

@Suite("The pairs of a browser that no page has set")
struct StalePairsTests {
    private let start = ContinuousClock.now

    @Test("include a replaced one as long as a request may have waited, but not in one that has not")
    func replaced() {
        var stale = StalePairs(earlier: [])
        stale.replace("t=0", at: start)
        #expect(stale.contains("t=0", mayBeLate: true, at: start + .seconds(119)))
        #expect(!stale.contains("t=0", mayBeLate: false, at: start + .seconds(119)))
        #expect(!stale.contains("t=0", mayBeLate: true, at: start + .seconds(120)))
    }

    @Test("do not include a replaced one that is in use again")
    func usedAgain() {
        var stale = StalePairs(earlier: [])
        stale.replace("t=0", at: start)
        stale.use("t=0")
        #expect(!stale.contains("t=0", mayBeLate: true, at: start))
    }

    @Test("are bounded, and the oldest replaced ones go first; those of an earlier run stay")
    func bounded() {
        var stale = StalePairs(earlier: ["t=old"])
        for number in 0..<2_000 { stale.replace("t=\(number)", at: start + .milliseconds(number)) }
        let end = start + .seconds(2)
        #expect(!stale.contains("t=0", mayBeLate: true, at: end))
        #expect(stale.contains("t=1999", mayBeLate: true, at: end))
        #expect((0..<2_000).count { stale.contains("t=\($0)", mayBeLate: true, at: end) } == 1_024)
        #expect(stale.contains("t=old", mayBeLate: false, at: end))
    }
}
#endif
