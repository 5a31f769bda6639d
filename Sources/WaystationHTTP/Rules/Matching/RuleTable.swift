/// Rules in order, compiled once, so that a decision costs about the same for ten rules and for ten thousand.
///
/// The first rule that matches a request wins. Deciding is pure: no I/O, no state, any thread. Rules are found by their
/// host, by the segments of their path, and, after a `**` or a glob such as `n123-*.png`, by a text that must follow.
/// Rules that do not differ in any of these, but only in methods, query, predicate, port or the middle of a glob such
/// as `*-123-*`, are tried one after the other.
public struct RuleTable<Action: Sendable>: Sendable {
    /// The rule that matches a request.
    public struct Match: Sendable {
        /// The position of the rule, counted from 0.
        public let index: Int

        /// The rule's action.
        public let action: Action
    }

    /// The rules in order.
    public let rules: [RuleDefinition<Action>]

    /// The patterns of ``rules``, in the same order.
    public let patterns: [URLPattern]

    let index: RuleIndex

    /// Compiles rules.
    ///
    /// - Throws: ``RuleTableError`` with every rule whose pattern is not valid.
    /// - Complexity: O(length of all patterns).
    public init(_ rules: [RuleDefinition<Action>]) throws(RuleTableError) {
        var problems: [RuleTableError.Problem] = []
        var patterns: [URLPattern] = []
        patterns.reserveCapacity(rules.count)
        for (index, rule) in rules.enumerated() {
            do throws(URLPatternError) {
                patterns.append(try URLPattern(rule.pattern))
            } catch {
                problems.append(RuleTableError.Problem(index: index, location: rule.location, error: error))
            }
        }
        guard problems.isEmpty else { throw RuleTableError(problems: problems) }

        var builder = RuleIndexBuilder()
        for (rule, pattern) in zip(rules, patterns) {
            builder.append(
                pattern,
                RuleConditions(
                    methods: rule.methods.map { Set($0.map(RuleRequest.normalizedMethod)) },
                    query: pattern.query + rule.query,
                    predicate: rule.predicate
                )
            )
        }
        self.rules = rules
        self.patterns = patterns
        index = builder.build()
    }

    /// The first rule that matches the request, or `nil`.
    ///
    /// - Complexity: O(length of the URL) for rules that differ in host or path, regardless of their number.
    public func match(_ request: RuleRequest) -> Match? {
        guard let found = index.firstMatch(for: request) else { return nil }
        return Match(index: found, action: rules[found].action)
    }

    /// The same decision as ``match(_:)``, with the reasons when no rule matches the request.
    ///
    /// - Complexity: That of ``match(_:)`` when a rule matches the request, otherwise O(number of rules); intended for
    ///   people and logs.
    public func decision(for request: RuleRequest) -> RuleDecision<Action> {
        if let match = match(request) {
            return .matched(index: match.index, pattern: patterns[match.index], action: match.action)
        }
        var closest = ClosestRules(to: request.url, limit: 5)
        for index in patterns.indices {
            let reasons = patterns[index].reasons(against: request, self.index.conditions[index])
            closest.insert(
                RuleMismatch(
                    index: index,
                    pattern: patterns[index],
                    location: rules[index].location,
                    reasons: reasons
                )
            )
        }
        return .unmatched(closest.mismatches)
    }
}

/// The conditions of a rule beyond scheme, host, port and path.
struct RuleConditions: Sendable {
    let methods: Set<String>?
    let query: [QueryCondition]
    let predicate: (@Sendable (RuleRequest) -> Bool)?

    var isEmpty: Bool { methods == nil && query.isEmpty && predicate == nil }

    func areMet(by request: RuleRequest) -> Bool {
        if let methods, !methods.contains(request.method) { return false }
        if !query.allSatisfy({ $0.isMet(by: request.url) }) { return false }
        return predicate?(request) ?? true
    }
}

extension RuleConditions {
    /// Returns true if every request that meets the other conditions is certain to meet these too.
    func cover(_ other: RuleConditions) -> Bool {
        guard predicate == nil else { return false }
        if let methods {
            guard let found = other.methods, found.isSubset(of: methods) else { return false }
        }
        return query.allSatisfy { condition in other.query.contains { condition.follows(from: $0) } }
    }
}

extension QueryCondition {
    /// Returns true if every URL that meets the other condition meets this one too.
    fileprivate func follows(from other: QueryCondition) -> Bool {
        switch (self, other) {
        case (.present(let name), .present(let found)), (.present(let name), .equals(let found, _)): name == found
        case (.equals, .equals): self == other
        case (.equals, .present): false
        }
    }
}

/// The few rules that come closest to a URL that no rule matches, the closest first.
///
/// A rule is close when few parts of it fail to match; a host weighs most, then the path. Among equally close rules,
/// the one whose path shares more leading segments with the URL comes first, then the earlier one.
struct ClosestRules {
    private struct Entry {
        let mismatch: RuleMismatch
        let distance: Int
        let sharedSegments: Int

        /// Rules are inserted in their order, so equally close ones keep it.
        func isCloser(than other: Entry) -> Bool {
            (distance, -sharedSegments) < (other.distance, -other.sharedSegments)
        }
    }

    private let limit: Int
    private let path: [Substring]
    private var entries: [Entry] = []

    init(to url: CanonicalURL, limit: Int) {
        self.limit = limit
        path = url.plain.pathSegments
    }

    var mismatches: [RuleMismatch] { entries.map(\.mismatch) }

    mutating func insert(_ mismatch: RuleMismatch) {
        let entry = Entry(
            mismatch: mismatch,
            distance: mismatch.reasons.reduce(0) { $0 + $1.weight },
            sharedSegments: mismatch.pattern.sharedSegments(with: path)
        )
        let position = entries.firstIndex { entry.isCloser(than: $0) } ?? entries.endIndex
        guard position < limit else { return }
        entries.insert(entry, at: position)
        if entries.count > limit { entries.removeLast() }
    }
}

extension RuleMismatch.Reason {
    fileprivate var weight: Int {
        switch self {
        case .host: 16
        case .path: 8
        case .scheme, .port: 3
        case .method, .query: 2
        case .predicate: 1
        }
    }
}

extension URLPattern {
    /// Every reason why the pattern and the conditions do not match a request.
    func reasons(against request: RuleRequest, _ conditions: RuleConditions) -> [RuleMismatch.Reason] {
        let url = request.url
        var reasons: [RuleMismatch.Reason] = []
        if !takesScheme(of: url) {
            reasons.append(.scheme(expected: "\(scheme)", found: Self.shortened(url.scheme)))
        }
        if !takesHost(of: url) {
            reasons.append(.host(expected: "\(host)", found: url.host.isEmpty ? "empty" : Self.shortened(url.host)))
        }
        if !takesPort(of: url) {
            reasons.append(.port(expected: "\(port)", found: url.effectivePort.map { "\($0)" } ?? "none"))
        }
        if !takesPath(of: url) {
            reasons.append(.path(expected: pathText, found: Self.shortened(url.path)))
        }
        if let methods = conditions.methods, !methods.contains(request.method) {
            let expected = methods.isEmpty ? "in the empty set of methods" : methods.sorted().joined(separator: ", ")
            reasons.append(.method(expected: expected, found: Self.shortened(request.method[...])))
        }
        for condition in conditions.query where !condition.isMet(by: url) {
            reasons.append(.query(missing: condition))
        }
        // The predicate is called last, and only when everything else matches, as when deciding.
        if reasons.isEmpty, let predicate = conditions.predicate, !predicate(request) {
            reasons.append(.predicate)
        }
        return reasons
    }

    /// The number of leading segments that a URL's path has in common with the pattern.
    fileprivate func sharedSegments(with segments: [Substring]) -> Int {
        zip(path, segments).prefix { pattern, segment in
            switch pattern {
            case .literal(let text): segment.utf8.elementsEqual(text)
            case .any: true
            case .glob, .anyDepth: false
            }
        }.count
    }

    private var pathText: String {
        path.map { segment in
            switch segment {
            case .literal(let text), .glob(let text): "/" + Self.shown(text)
            case .any: "/*"
            case .anyDepth: "/**"
            }
        }.joined()
    }

    /// The bytes of a segment in the syntax of patterns.
    private static func shown(_ segment: [UInt8]) -> String {
        segment.reduce(into: "") { shown, byte in
            switch byte {
            case PathSegmentPattern.star: shown += "*"
            case UInt8(ascii: "*"): shown += "%2A"
            default: shown.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
    }

    /// URLs come from outside and may have any length, so messages shorten them.
    private static func shortened(_ text: Substring) -> String {
        text.utf8.count <= 200 ? String(text) : text.prefix(200) + "…"
    }
}
