import Foundation
import Measuring

/// A scenario with the verdict on each variant: one row of the output.
struct Row: Sendable {
    let scenario: Scenario
    let plain: Outcome
    let verdicts: [(variant: Variant, verdict: Verdict)]

    var isExpected: Bool {
        verdicts.allSatisfy { _, verdict in
            switch verdict {
            case .equal, .argued: true
            case .different, .hangs, .crashes: false
            }
        }
    }

    var isEqual: Bool { verdicts.allSatisfy { $0.verdict == .equal } }

    func count(of verdict: Verdict) -> Int { verdicts.count { $0.verdict == verdict } }

    /// How long a load may make no progress before it counts as one that hangs, in seconds.
    private static let patience = 60
    /// The same for plain URLSession, some of whose loads hang.
    private static let patienceWithPlain = 30

    /// Runs the scenario in all variants, each in a process of its own.
    init(_ scenario: Scenario, variants: [Variant], by children: Children) throws {
        self.scenario = scenario
        let plain = try children.outcome(of: scenario, .plain, times: 1, patience: Self.patienceWithPlain)
        // Where plain URLSession hangs, so does a variant whose load is Foundation's own: a longer wait shows nothing more.
        let patience = if case .hung = plain { Self.patienceWithPlain } else { Self.patience }
        var shown = plain
        let runsTwice = scenario.repeats && variants.contains(where: \.isSecondRun)
        let plainTwice =
            runsTwice
            ? try children.outcome(of: scenario, .plain, times: 2, patience: Self.patienceWithPlain) : plain
        verdicts = try variants.compactMap { variant in
            guard !variant.isSecondRun || scenario.repeats else { return nil }
            let times = variant.isSecondRun ? 2 : 1
            let other = try children.outcome(of: scenario, variant, times: times, patience: patience)
            var base = variant.isSecondRun ? plainTwice : plain
            if variant == .untouched {
                base = try plain.repeated(beside: other) {
                    try children.outcome(of: scenario, .plain, times: 1, patience: Self.patienceWithPlain)
                }
                shown = base
            }
            let verdict = Verdict(
                plain: base,
                other: other,
                scenario: scenario.name,
                variant: variant.rawValue,
                isPlainLoader: variant == .untouched || scenario.isHandedBack
                    || scenario.stopsFoundation && variant.byFoundation == nil,
                required: scenario.required,
                arguments: Argument.all(for: variant)
            )
            return (variant, verdict)
        }
        self.plain = shown
    }

    /// The row as text: how plain URLSession ended, unless it ended normally, and one verdict for all variants that
    /// agree.
    var text: String {
        let plainEnd =
            switch plain {
            case .observed: ""
            case .hung: " [plain hangs]"
            case .crashed: " [plain crashes]"
            }
        let summary =
            if !isExpected { "FAILED" } else if isEqual { "equal" } else { "argued" }
        let names = verdicts.map(\.variant.rawValue).joined(separator: ", ")
        var lines = [
            "\(summary.padding(toLength: 8, withPad: " ", startingAt: 0))\(scenario.name)\(plainEnd) (\(names))"
        ]
        // Variants with the same verdict are printed together.
        var told: [(verdict: Verdict, variants: [String])] = []
        for (variant, verdict) in verdicts where verdict != .equal {
            if let index = told.firstIndex(where: { $0.verdict == verdict }) {
                told[index].variants.append(variant.rawValue)
            } else {
                told.append((verdict, [variant.rawValue]))
            }
        }
        for (verdict, variants) in told {
            let names = variants.joined(separator: ", ")
            switch verdict {
            case .equal: break
            case .argued(let reasons): lines += reasons.map { "        \(names): argued: \($0)" }
            case .different(let facts): lines += facts.map { "        \(names): DIFFERS in \($0)" }
            case .hangs: lines.append("        \(names): HANGS")
            case .crashes: lines.append("        \(names): CRASHES")
            }
        }
        return lines.joined(separator: "\n")
    }
}
