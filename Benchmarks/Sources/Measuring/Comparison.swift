/// Why certain facts of certain scenarios may differ from plain URLSession.
public struct Argument: Sendable {
    /// The scenarios it speaks of: a name, or a prefix that ends in `*`.
    public let scenarios: String
    /// The variants it speaks of; empty means all.
    public let variants: Set<String>
    /// The facts that may differ.
    public let facts: Set<String>
    /// Why that is right.
    public let reason: String

    /// Makes an argument.
    public init(_ scenarios: String, variants: Set<String> = [], facts: Set<String>, because reason: String) {
        self.scenarios = scenarios
        self.variants = variants
        self.facts = facts
        self.reason = reason
    }

    /// Whether it speaks of a scenario in a variant.
    public func speaks(of scenario: String, in variant: String) -> Bool {
        let names = scenarios.last == "*" ? scenario.hasPrefix(scenarios.dropLast()) : scenario == scenarios
        return names && (variants.isEmpty || variants.contains(variant))
    }
}

/// What comparing a run through Waystation with a plain run came to.
public enum Verdict: Equatable, Sendable {
    /// Every fact is the same.
    case equal
    /// Facts differ, and for each an argument says why it may.
    case argued([String])
    /// Facts differ without an argument; each with what plain and Waystation showed.
    case different([String])
    /// Waystation hung.
    case hangs
    /// Waystation crashed.
    case crashes

    /// Compares.
    ///
    /// Where plain URLSession hangs or crashes there is nothing to be equal to: Waystation must end, and show
    /// `required`, the facts that are right. The way that takes no request is plain URLSession, and may end as it does.
    ///
    /// - Parameters:
    ///   - plain: How plain URLSession ended.
    ///   - other: How Waystation ended.
    ///   - scenario: The scenario's name.
    ///   - variant: The variant's name.
    ///   - isPlainLoader: Whether Foundation's own loader runs in this variant, by design.
    ///   - required: The facts that Waystation must show where plain URLSession has no end.
    ///   - arguments: The differences that are right.
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
