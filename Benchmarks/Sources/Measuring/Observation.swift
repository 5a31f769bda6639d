/// The result of one run of a scenario, as named facts that can be compared.
public struct Observation: Codable, Equatable, Sendable {
    /// The facts, each under its name, such as `status`.
    public var facts: [String: String]

    /// Makes an observation.
    public init(_ facts: [String: String] = [:]) { self.facts = facts }

    /// The fact of a name; setting nil removes it.
    public subscript(name: String) -> String? {
        get { facts[name] }
        set { facts[name] = newValue }
    }

    /// The names under which two observations differ, sorted.
    public func differences(from other: Observation) -> [String] {
        Set(facts.keys).union(other.facts.keys).filter { facts[$0] != other.facts[$0] }.sorted()
    }
}

/// How a run ended: with an observation, or in a way that no load may end.
public enum Outcome: Equatable, Sendable {
    /// The load ended, with this observation.
    case observed(Observation)
    /// The load had not ended when its time was up; the observation until then.
    case hung(Observation)
    /// The process died.
    case crashed(String)

    /// The observation, unless the process crashed.
    public var observation: Observation? {
        switch self {
        case .observed(let observation), .hung(let observation): observation
        case .crashed: nil
        }
    }

    /// The outcome of plain URLSession beside another run of Foundation's own loader.
    ///
    /// Foundation's faults depend on the moment. If the other run crashed or hung and this one ended, plain URLSession runs
    /// again until it crashes or hangs as well.
    ///
    /// - Parameters:
    ///   - other: How the other run ended.
    ///   - limit: How often plain URLSession runs again at most.
    ///   - run: Runs plain URLSession.
    /// - Returns: The outcome of the run that ended like the other one; this outcome if no run did.
    /// - Throws: The error of a run.
    public func repeated(beside other: Outcome, limit: Int = 100, _ run: () throws -> Outcome) rethrows -> Outcome {
        guard case .observed = self, !other.isLike(self) else { return self }
        for _ in 0..<limit {
            let again = try run()
            if again.isLike(other) { return again }
        }
        return self
    }

    private func isLike(_ other: Outcome) -> Bool {
        switch (self, other) {
        case (.observed, .observed), (.hung, .hung), (.crashed, .crashed): true
        case (.observed, _), (.hung, _), (.crashed, _): false
        }
    }
}
