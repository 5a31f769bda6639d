#if Gateway
import Testing

@testable import WaystationGateway

@Suite("The pairs of a browser that no page has set")
struct StalePairsTests {
    private let start = ContinuousClock.now

    @Test("include a replaced pair as long as the request may have waited in the browser, and not if it has not waited")
    func replaced() {
        var stale = StalePairs(earlier: [], in: "/")
        stale.replace("t=0", at: start)
        #expect(stale.contains("t=0", mayBeLate: true, at: start + .seconds(119)))
        #expect(!stale.contains("t=0", mayBeLate: false, at: start + .seconds(119)))
        #expect(!stale.contains("t=0", mayBeLate: true, at: start + .seconds(120)))
    }

    @Test("do not include a replaced one that is in use again")
    func usedAgain() {
        var stale = StalePairs(earlier: [], in: "/")
        stale.replace("t=0", at: start)
        stale.use("t=0")
        #expect(!stale.contains("t=0", mayBeLate: true, at: start))
    }

    @Test("include one of an earlier run until a request for its folder lacks it")
    func earlier() {
        var stale = StalePairs(earlier: ["a=1", "b=2"], in: "/app/")
        stale.note(all: [], in: "/")
        #expect(stale.contains("a=1", mayBeLate: false, at: start))
        stale.note(all: ["b=2"], in: "/app/x/")
        #expect(!stale.contains("a=1", mayBeLate: true, at: start))
        #expect(stale.contains("b=2", mayBeLate: true, at: start))
    }

    @Test("that ended count as set again only after the browser has lost them, and can end again")
    func ended() {
        var stale = StalePairs(earlier: [], in: "/")
        #expect(!stale.isSetAgain("a=1"))
        for _ in 0..<2 {
            stale.end("a=1", in: "/app/")
            stale.note(all: ["a=1"], in: "/app/")
            stale.note(all: [], in: "/")
            #expect(!stale.isSetAgain("a=1"))
            stale.note(all: [], in: "/app/")
            #expect(stale.isSetAgain("a=1"))
        }
        for number in 0..<1_024 { stale.end("b=\(number)", in: "/") }
        #expect(!stale.isSetAgain("a=1"))
    }

    @Test("are bounded, and the oldest replaced ones go first; those of an earlier run stay")
    func bounded() {
        var stale = StalePairs(earlier: ["t=old"], in: "/")
        for number in 0..<2_000 { stale.replace("t=\(number)", at: start + .milliseconds(number)) }
        let end = start + .seconds(2)
        #expect(!stale.contains("t=0", mayBeLate: true, at: end))
        #expect(stale.contains("t=1999", mayBeLate: true, at: end))
        #expect((0..<2_000).count { stale.contains("t=\($0)", mayBeLate: true, at: end) } == 1_024)
        #expect(stale.contains("t=old", mayBeLate: false, at: end))
    }
}
#endif
