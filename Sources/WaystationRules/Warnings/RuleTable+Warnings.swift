import WaystationFields

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
