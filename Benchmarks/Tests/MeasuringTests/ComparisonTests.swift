import Measuring
import Testing

@Suite("Comparing with plain URLSession")
struct ComparisonTests {
    private let plain = Observation(["status": "200", "bytes": "5", "calls": "a > b"])

    @Test("the same facts are equal")
    func equal() {
        #expect(verdict(.observed(plain), .observed(plain)) == .equal)
    }

    @Test(
        "a fact that differs, is missing or is new needs an argument",
        arguments: [
            (["status": "200", "bytes": "4", "calls": "a > b"], "bytes: plain 5, here 4"),
            (["status": "200", "calls": "a > b"], "bytes: plain 5, here absent"),
            (["status": "200", "bytes": "5", "calls": "a > b", "new": "x"], "new: plain absent, here x"),
        ]
    )
    func different(facts: [String: String], told: String) {
        #expect(verdict(.observed(plain), .observed(Observation(facts))) == .different([told]))
    }

    @Test(
        "an argument covers the facts it names, in the scenarios and variants it names, and no others",
        arguments: [
            (Argument("data/*", facts: ["bytes"], because: "r"), Verdict.argued(["r"])),
            (Argument("data/async", variants: ["hit"], facts: ["bytes", "status"], because: "r"), .argued(["r"])),
            (Argument("data/async", variants: ["stored"], facts: ["bytes"], because: "r"), nil),
            (Argument("data", facts: ["bytes"], because: "r"), nil),
            (Argument("data/*", facts: ["status"], because: "r"), nil),
        ]
    )
    func argued(argument: Argument, expected: Verdict?) {
        var other = plain
        other["bytes"] = "4"
        let verdict = verdict(.observed(plain), .observed(other), arguments: [argument])
        #expect(verdict == expected ?? .different(["bytes: plain 5, here 4"]))
    }

    @Test("plain URLSession runs again until it crashes or hangs as another run of Foundation's own loader did")
    func repeated() {
        func runs(_ first: Outcome, beside other: Outcome, then later: [Outcome]) -> (outcome: Outcome, count: Int) {
            var count = 0
            let outcome = first.repeated(beside: other, limit: later.count) {
                defer { count += 1 }
                return later[count]
            }
            return (outcome, count)
        }
        let (end, crash, hang) = (Outcome.observed(plain), Outcome.crashed("a trap"), Outcome.hung(plain))
        #expect(runs(end, beside: crash, then: [end, hang, crash, end]) == (crash, 3))
        #expect(runs(end, beside: hang, then: [crash, hang]) == (hang, 2))
        #expect(runs(end, beside: crash, then: [end, hang]) == (end, 2))
        #expect(runs(end, beside: end, then: [crash]) == (end, 0))
        #expect(runs(hang, beside: crash, then: [crash]) == (hang, 0))
    }

    @Test("one argued difference does not hide another")
    func unexpectedBesideArgued() {
        var other = plain
        other["bytes"] = "4"
        other["status"] = "500"
        let argument = Argument("*", facts: ["bytes"], because: "r")
        #expect(
            verdict(.observed(plain), .observed(other), arguments: [argument])
                == .different(["status: plain 200, here 500"])
        )
    }

    @Test(
        "a hang or a crash fails when Waystation answers the load",
        arguments: [
            (Outcome.observed(Observation()), Outcome.hung(Observation()), Verdict.hangs),
            (.hung(Observation()), .hung(Observation()), .hangs),
            (.observed(Observation()), .crashed("signal 4"), .crashes),
            (.crashed("signal 4"), .crashed("signal 4"), .crashes),
        ]
    )
    func ends(plain: Outcome, other: Outcome, expected: Verdict) {
        #expect(verdict(plain, other) == expected)
    }

    @Test("Foundation's own loader may hang or crash only as it does without Waystation")
    func plainLoader() {
        let same = Verdict.argued(["Foundation's own loader runs here, and has no end without Waystation either"])
        #expect(verdict(.hung(plain), .hung(plain), isPlainLoader: true) == same)
        #expect(verdict(.crashed("a"), .crashed("b"), isPlainLoader: true) == same)
        #expect(verdict(.hung(plain), .crashed("b"), isPlainLoader: true) == .crashes)
        #expect(verdict(.observed(plain), .hung(plain), isPlainLoader: true) == .hangs)
    }

    @Test("when plain URLSession does not end, the required facts decide")
    func required() {
        let ends = Verdict.argued(["plain URLSession never ends; this does"])
        #expect(verdict(.hung(Observation()), .observed(plain), required: ["status": "200"]) == ends)
        #expect(
            verdict(.crashed(""), .observed(plain), required: ["status": "401"])
                == .different(["status: must be 401, is 200"])
        )
    }

    private func verdict(
        _ plain: Outcome,
        _ other: Outcome,
        isPlainLoader: Bool = false,
        required: [String: String] = [:],
        arguments: [Argument] = []
    ) -> Verdict {
        Verdict(
            plain: plain,
            other: other,
            scenario: "data/async",
            variant: "hit",
            isPlainLoader: isPlainLoader,
            required: required,
            arguments: arguments
        )
    }
}
