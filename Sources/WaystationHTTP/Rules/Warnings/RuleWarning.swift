/// A valid rule that probably does not do what its author meant.
///
/// A warning does not refuse anything: the rule is used as it is written.
public struct RuleWarning: Sendable, Hashable {
    /// The kind of a warning.
    ///
    /// More kinds may be added later.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let description: String

        /// An earlier rule matches every request that this rule matches, so this rule is never reached.
        public static let unreachable = Kind(description: "unreachable")
        /// The rule matches no request, since its set of methods is empty.
        public static let noMethods = Kind(description: "noMethods")
        /// The pattern has no path, or only the path `/*`, and so matches only a few pages of a host.
        public static let narrowPath = Kind(description: "narrowPath")
        /// The pattern has a `[` without its `]`, so the `[` stands for the character itself.
        public static let unclosedBracket = Kind(description: "unclosedBracket")
        /// The rule serves files at a base URL, but its pattern matches nothing below it.
        public static let baseOutsidePattern = Kind(description: "baseOutsidePattern")
    }

    /// The kind of the warning.
    public let kind: Kind

    /// The position of the rule, counted from 0.
    public let rule: Int

    /// The pattern of the rule, as it was written.
    public let pattern: String

    /// The place in the source where the rule was written, when known.
    public let location: RuleLocation?

    /// A sentence that says what is wrong, and the form that was probably meant.
    public let message: String

    package init(_ kind: Kind, rule: Int, pattern: String, location: RuleLocation?, message: String) {
        self.kind = kind
        self.rule = rule
        self.pattern = pattern
        self.location = location
        self.message = message
    }
}

extension RuleWarning: CustomStringConvertible {
    /// The rule, the place where it was written, and the message, on one line.
    public var description: String {
        let place = location.map { " (\($0))" } ?? ""
        return "rule \(rule) `\(pattern.shown(upTo: URLPatternError.limit))`\(place): \(message)"
    }
}

extension RuleTable {
    /// The valid rules that probably do not do what their author meant, in their order.
    ///
    /// An unreachable rule is found when one earlier rule matches all of its requests, but not when several earlier
    /// rules do so only together.
    ///
    /// - Complexity: O(number of rules), and at most 200,000 comparisons of two rules: in a table with thousands of
    ///   similar rules some warnings may be missing.
    public func warnings() -> [RuleWarning] {
        var warnings: [RuleWarning] = []
        var earlier = EarlierRules()
        for rule in patterns.indices {
            let pattern = patterns[rule]
            let found: [(RuleWarning.Kind, String?)] = [
                (.noMethods, index.conditions[rule].methods == [] ? Self.noMethodsMessage : nil),
                (.unreachable, earlier.firstCovering(rule, in: self).map(unreachableMessage)),
                (.narrowPath, pattern.narrowPathMessage),
                (.unclosedBracket, pattern.unclosedBracketMessage),
            ]
            for (kind, message) in found {
                guard let message else { continue }
                warnings.append(
                    RuleWarning(
                        kind,
                        rule: rule,
                        pattern: pattern.text,
                        location: rules[rule].location,
                        message: message
                    )
                )
            }
            earlier.append(rule, pattern)
        }
        return warnings
    }

    private static var noMethodsMessage: String {
        "the rule matches no request, since its set of methods is empty; leave `methods` out to match every method"
    }

    private func unreachableMessage(_ earlier: Int) -> String {
        let place = rules[earlier].location.map { " (\($0))" } ?? ""
        return """
            the rule is never reached, since rule \(earlier) \
            `\(patterns[earlier].text.shown(upTo: URLPatternError.limit))`\(place) matches every request that this rule matches; \
            put it before that rule, or remove it
            """
    }
}

/// The rules before the current one, by the host and the path that a rule must begin with to match all requests of
/// another one.
///
/// A rule covers a host if it has the same host, a domain above it, or `*`. A rule covers a path only if the other path
/// begins with the same literal segments, up to the rule's first glob.
private struct EarlierRules {
    private struct Key: Hashable {
        /// Nil when the rule matches every host.
        let domain: String?
        let folders: ArraySlice<PathSegmentPattern>
    }

    private var rules: [Key: [Int]] = [:]
    private var comparisonsLeft = 200_000

    mutating func append(_ rule: Int, _ pattern: URLPattern) {
        rules[Key(domain: pattern.domains.first, folders: pattern.folders), default: []].append(rule)
    }

    /// The first of the earlier rules that matches every request that the rule matches.
    mutating func firstCovering<Action>(_ rule: Int, in table: RuleTable<Action>) -> Int? {
        let pattern = table.patterns[rule]
        let conditions = table.index.conditions[rule]
        let folders = pattern.folders
        var first: Int?
        for domain in pattern.domains.map(Optional.some) + [nil] {
            for count in 0...folders.count {
                let key = Key(domain: domain, folders: folders.prefix(count))
                for candidate in rules[key] ?? [] where candidate < first ?? .max {
                    guard comparisonsLeft > 0 else { return first }
                    comparisonsLeft -= 1
                    guard table.index.conditions[candidate].cover(conditions),
                        table.patterns[candidate].coversAddresses(of: pattern)
                    else { continue }
                    first = candidate
                    break
                }
            }
        }
        return first
    }
}

extension URLPattern {
    /// The literal segments at the start of the path.
    fileprivate var folders: ArraySlice<PathSegmentPattern> {
        path.prefix {
            if case .literal = $0 { true } else { false }
        }
    }

    /// The name in the host and the domains above it, the name first; empty when every host matches.
    fileprivate var domains: [String] {
        switch host {
        case .any:
            return []
        case .exact(let name), .subdomains(let name), .domain(let name):
            let dots = name.indices.filter { name[$0] == "." }
            return [name] + dots.map { String(name[name.index(after: $0)...]) }
        }
    }
}

/// Comparisons of whole sets of URLs, which return `true` only when the result is certain.
extension URLPattern {
    /// Returns true if this pattern matches every URL of the other pattern; queries are not compared.
    func coversAddresses(of other: URLPattern) -> Bool {
        coversScheme(of: other) && coversPort(of: other) && coversHost(of: other)
            && PathSegmentPattern.cover(path, other.path)
    }

    /// Returns true if the pattern matches the base itself or some URL below it.
    package func takesSomething(below base: CanonicalURL) -> Bool {
        guard takesScheme(of: base), takesHost(of: base), takesPort(of: base) else { return false }
        var folders = base.plain.pathSegments
        if folders.last?.isEmpty ?? false { folders.removeLast() }
        return PathSegmentPattern.mayBegin(path, with: folders)
    }

    private func coversScheme(of other: URLPattern) -> Bool {
        switch (scheme, other.scheme) {
        case (.web, .web), (.web, .named("http")), (.web, .named("https")): true
        case (.named(let name), .named(let found)): name == found
        case (.named, .web), (.web, .named): false
        }
    }

    private func coversPort(of other: URLPattern) -> Bool {
        switch (port, other.port) {
        case (.any, _), (.standard, .standard): true
        case (.exact(let number), .exact(let found)): number == found
        case (.exact(let number), .standard):
            if case .named(let name) = other.scheme { KnownScheme(name.utf8)?.defaultPort == number } else { false }
        case (.standard, .exact), (_, .any): false
        }
    }

    private func coversHost(of other: URLPattern) -> Bool {
        switch (host, other.host) {
        case (.any, _): true
        case (_, .any), (.exact, .subdomains), (.exact, .domain): false
        case (.exact(let name), .exact(let found)): name == found
        case (.subdomains(let name), .exact(let found)), (.subdomains(let name), .domain(let found)):
            Self.isSubdomain(found[...], of: name)
        case (.subdomains(let name), .subdomains(let found)), (.domain(let name), .exact(let found)),
            (.domain(let name), .subdomains(let found)), (.domain(let name), .domain(let found)):
            name == found || Self.isSubdomain(found[...], of: name)
        }
    }
}

extension PathSegmentPattern {
    /// Returns true if `segments` match every path that `others` match.
    ///
    /// The wildcards of `others` are treated as symbols that only a wildcard matches, so this is glob matching that
    /// backtracks to the last `**`.
    ///
    /// - Complexity: O(segments × others).
    static func cover(_ segments: [PathSegmentPattern], _ others: [PathSegmentPattern]) -> Bool {
        var next = 0
        var position = 0
        var retry: (next: Int, position: Int)?
        while true {
            if next < segments.count, segments[next] == .anyDepth {
                next += 1
                if next == segments.count { return true }
                retry = (next, position)
            } else if position < others.count, next < segments.count, segments[next].covers(others[position]) {
                next += 1
                position += 1
            } else if position == others.count, next == segments.count {
                return true
            } else {
                guard let (segment, tried) = retry, tried < others.count else { return false }
                next = segment
                position = tried + 1
                retry = (segment, position)
            }
        }
    }

    /// Returns true if this segment matches every segment that `other` matches.
    private func covers(_ other: PathSegmentPattern) -> Bool {
        switch (self, other) {
        case (_, .anyDepth): false
        case (.any, _), (.anyDepth, _): true
        case (.literal(let text), .literal(let found)): text == found
        // A star in the other text is a byte that only a star of this text matches.
        case (.glob, .literal(let found)), (.glob, .glob(let found)):
            found.withUnsafeBufferPointer { takes($0, 0, found.count) }
        case (.literal, _), (.glob, .any): false
        }
    }

    /// Returns true if the segments match some path that consists of the folders or begins with them.
    ///
    /// - Complexity: O(segments × folders).
    static func mayBegin(_ segments: [PathSegmentPattern], with folders: [Substring]) -> Bool {
        // The places in `segments` that the folders so far can reach; a `**` may be skipped as soon as it is reached.
        var reached = Array(repeating: false, count: segments.count + 1)
        func reach(_ place: Int, in places: inout [Bool]) {
            var place = place
            places[place] = true
            while place < segments.count, segments[place] == .anyDepth {
                place += 1
                places[place] = true
            }
        }
        reach(0, in: &reached)
        for folder in folders {
            let bytes = Array(folder.utf8)
            var next = Array(repeating: false, count: segments.count + 1)
            for place in segments.indices where reached[place] {
                if segments[place] == .anyDepth {
                    reach(place, in: &next)
                } else if segments[place].covers(.literal(bytes)) {
                    reach(place + 1, in: &next)
                }
            }
            reached = next
        }
        return reached.contains(true)
    }
}

extension URLPattern {
    /// A message for a path that matches less than its author probably meant; nil for every other path.
    var narrowPathMessage: String? {
        let host = text[..<authorityEnd]
        let tail = text[authorityEnd...]
        if tail.utf8.first != UInt8(ascii: "/") {
            return """
                a pattern without a path takes only the front page; write `\(host)/**\(tail)` for every page of the \
                host, or `\(host)/\(tail)` for the front page
                """
        }
        guard path == [.any] else { return nil }
        let query = tail.utf8.firstIndex(of: UInt8(ascii: "?")).map { tail[$0...] } ?? ""
        return """
            `/*` takes only paths of one segment, such as `/a` and not `/a/b`; write `\(host)/**\(query)` for every \
            page of the host
            """
    }

    /// A message for an unclosed `[` in the path or in the query; nil if each `[` is closed.
    var unclosedBracketMessage: String? {
        let tail = text.utf8[authorityEnd...]
        guard let bracket = tail.lastIndex(of: UInt8(ascii: "[")), !tail[bracket...].contains(UInt8(ascii: "]")) else {
            return nil
        }
        return """
            the `[` is not closed and stands for the character itself, since patterns have no character classes; write \
            `*`, or one rule for each character
            """
    }
}
