/// A reason why certain facts of certain scenarios may differ from plain URLSession.
public struct Argument: Sendable {
    /// The scenarios that the argument covers: a name, or a prefix that ends in `*`.
    public let scenarios: String
    /// The variants that the argument covers; empty means all.
    public let variants: Set<String>
    /// The facts that may differ.
    public let facts: Set<String>
    /// The reason why they may differ.
    public let reason: String

    /// Makes an argument.
    public init(_ scenarios: String, variants: Set<String> = [], facts: Set<String>, because reason: String) {
        self.scenarios = scenarios
        self.variants = variants
        self.facts = facts
        self.reason = reason
    }

    /// Whether the argument covers a scenario in a variant.
    public func speaks(of scenario: String, in variant: String) -> Bool {
        let names = scenarios.last == "*" ? scenario.hasPrefix(scenarios.dropLast()) : scenario == scenarios
        return names && (variants.isEmpty || variants.contains(variant))
    }
}

/// The result of comparing a run through Waystation with a plain run.
public enum Verdict: Equatable, Sendable {
    /// Every fact is the same.
    case equal
    /// Facts differ, and for each of them an argument gives the reason why it may.
    case argued([String])
    /// Facts differ without an argument; each has the values of plain URLSession and of Waystation.
    case different([String])
    /// Waystation hung.
    case hangs
    /// Waystation crashed.
    case crashes

    /// Compares two runs.
    ///
    /// When plain URLSession hangs or crashes, there is no result to be equal to: Waystation must end, and show the
    /// facts in `required`. A variant in which Waystation leaves the request to Foundation is plain URLSession, and may
    /// end like it.
    ///
    /// - Parameters:
    ///   - plain: How the run with plain URLSession ended.
    ///   - other: How the run through Waystation ended.
    ///   - scenario: The scenario's name.
    ///   - variant: The variant's name.
    ///   - isPlainLoader: Whether this variant uses Foundation's own loader, by design.
    ///   - required: The facts that Waystation must show when plain URLSession does not end.
    ///   - arguments: The differences that are allowed.
    public init(
        plain: Outcome,
        other: Outcome,
        scenario: String,
        variant: String,
        isPlainLoader: Bool,
        required: [String: String],
        arguments: [Argument]
    ) {
        switch (plain, other) {
        case (.hung, .hung) where isPlainLoader, (.crashed, .crashed) where isPlainLoader:
            self = .argued(["Foundation's own loader runs here, and has no end without Waystation either"])
        case (_, .hung):
            self = .hangs
        case (_, .crashed):
            self = .crashes
        case (.observed(let plain), .observed(let other)):
            self.init(plain: plain, other: other, scenario: scenario, variant: variant, arguments: arguments)
        case (_, .observed(let other)):
            let wrong = required.filter { other[$0.key] != $0.value }.sorted { $0.key < $1.key }
            self =
                wrong.isEmpty
                ? .argued(["plain URLSession never ends; this does"])
                : .different(wrong.map { "\($0.key): must be \($0.value), is \(other[$0.key] ?? "absent")" })
        }
    }

    private init(
        plain: Observation,
        other: Observation,
        scenario: String,
        variant: String,
        arguments: [Argument]
    ) {
        let differences = plain.differences(from: other)
        let speaking = arguments.filter { argument in
            argument.speaks(of: scenario, in: variant) && !argument.facts.isDisjoint(with: differences)
        }
        let argued = speaking.reduce(into: Set<String>()) { $0.formUnion($1.facts) }
        let unexpected = differences.filter { !argued.contains($0) }
        if differences.isEmpty {
            self = .equal
        } else if unexpected.isEmpty {
            self = .argued(speaking.map(\.reason))
        } else {
            self = .different(
                unexpected.map { "\($0): plain \(plain[$0] ?? "absent"), here \(other[$0] ?? "absent")" }
            )
        }
    }
}
