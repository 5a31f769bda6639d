import Synchronization
import WaystationFoundation
import WaystationHTTP

/// The rules of an interceptor, ready for decisions: patterns are compiled, directories open.
struct CompiledRules: Sendable {
    private let table: RuleTable<CompiledRule>
    private let compiled: [CompiledRule]
    /// Whether each rule has no condition beside its pattern.
    private let areUnconditional: [Bool]
    /// Whether every rule leads to the network and nowhere else.
    let areNetworkAlone: Bool
    /// Whether any rule has a predicate.
    ///
    /// Only predicates read header fields.
    let hasPredicates: Bool
    /// The different choices by which keys of the rules leave out or sort items of a query.
    var queryChoices: Set<QueryChoice> { Set(compiled.map(\.key.query).filter { !$0.isEmpty }) }
    /// The warnings about rules that probably do not do what was meant, in the order of the rules.
    let warnings: [RuleWarning]

    init(_ rules: [Rule], hasCache: Bool, packs: (any InstalledPacks)?, hasLogin: Bool = false) throws {
        var definitions: [RuleDefinition<CompiledRule>] = []
        definitions.reserveCapacity(rules.count)
        for (index, rule) in rules.enumerated() {
            let definition = rule.definition
            var compiled = RuleDefinition(
                definition.pattern,
                methods: definition.methods,
                query: definition.query,
                action: try CompiledRule(
                    definition.action,
                    RouteContext(rule: index, hasCache: hasCache, packs: packs, hasLogin: hasLogin)
                ),
                where: definition.predicate
            )
            compiled.location = definition.location
            definitions.append(compiled)
        }
        compiled = definitions.map(\.action)
        areUnconditional = definitions.map { $0.methods == nil && $0.query.isEmpty && $0.predicate == nil }
        areNetworkAlone = compiled.allSatisfy { $0.sources.first is NetworkSource }
        hasPredicates = definitions.contains { $0.predicate != nil }
        do {
            table = try RuleTable(definitions)
        } catch {
            throw WaystationError(.invalidRules, "\(error)", cause: error)
        }
        let bases = zip(rules, table.patterns).enumerated().flatMap { index, rule in
            rule.0.basesOutside(rule.1, rule: index)
        }
        warnings = (table.warnings() + bases).sorted { $0.rule < $1.rule }
    }

    /// The schemes of patterns that are neither `http` nor `https`.
    var schemesBesideHTTP: Set<String> { Set(table.patterns.compactMap(\.schemeBesideHTTP)) }

    /// Whether a rule that does not block names the host of a URL, and takes some URL of its origin.
    ///
    /// A rule after one that blocks the whole origin does not count, and a rule for every host names none.
    func serve(originOf url: CanonicalURL) -> Bool {
        guard let origin = url.resolving("/") else { return false }
        for (index, pattern) in table.patterns.enumerated() where pattern.takesSomething(below: origin) {
            if compiled[index].isBlock {
                if areUnconditional[index], pattern.takesEveryPath { return false }
            } else if !pattern.takesEveryHost {
                return true
            }
        }
        return false
    }

    /// Whether every URL of a URL's origin is blocked: by a rule for the whole origin, before which no rule takes any of
    /// them to a source.
    func block(originOf url: CanonicalURL) -> Bool {
        guard let origin = url.resolving("/") else { return false }
        for (index, pattern) in table.patterns.enumerated() where pattern.takesSomething(below: origin) {
            guard compiled[index].isBlock else { return false }
            if areUnconditional[index], pattern.takesEveryPath { return true }
        }
        return false
    }

    /// The first rule that takes the request.
    func match(_ canonical: CanonicalRequest, of request: URLRequest) -> RuleMatch? {
        table.match(ruleRequest(canonical, request)).map { RuleMatch(canonical, $0.action, at: $0.index) }
    }

    /// The decision about a request, with its reasons.
    func decision(_ canonical: CanonicalRequest, of request: URLRequest) -> RuleDecision<CompiledRule> {
        table.decision(for: ruleRequest(canonical, request))
    }

    private func ruleRequest(_ canonical: CanonicalRequest, _ request: URLRequest) -> RuleRequest {
        guard hasPredicates else { return RuleRequest(url: canonical.url, method: canonical.method) }
        return RuleRequest(url: canonical.url, method: canonical.method) { request.value(forHTTPHeaderField: $0) }
    }
}

extension URLPattern {
    /// The text after the scheme.
    private var address: Substring { text.firstRange(of: "://").map { text[$0.upperBound...] } ?? "" }

    /// Whether the host is `*`.
    fileprivate var takesEveryHost: Bool { address.prefix { !":/?#".contains($0) } == "*" }

    /// Whether all URLs of the hosts are in the set.
    fileprivate var takesEveryPath: Bool { address.drop { !"/?#".contains($0) } == "/**" }
}

extension CompiledRule {
    fileprivate convenience init(_ action: Rule.Action, _ context: RouteContext) throws {
        guard action.login == nil || context.hasLogin else {
            throw WaystationError(
                .missingLogin,
                "rule \(context.rule) requires a login, but the interceptor has none: set `login` to a LoginSession"
            )
        }
        self.init(try action.route.sources(in: context), login: action.login)
    }
}

/// Finds the rule that takes a request.
///
/// Foundation asks several times in a row about one request, so the last answer is kept. It depends only on URL and
/// method, unless a rule has a predicate.
final class RequestMatcher: Sendable {
    let rules: CompiledRules
    private let last = Mutex<Last?>(nil)

    init(_ rules: CompiledRules) { self.rules = rules }

    /// The rule that takes a request; nil when none does.
    func match(_ request: URLRequest) -> RuleMatch? {
        guard let url = request.url?.absoluteString else { return nil }
        let method = request.httpMethod ?? "GET"
        if !rules.hasPredicates, let known = last.withLock({ $0 }), known.url == url, known.method == method {
            return known.match
        }
        let match = CanonicalRequest(request).flatMap { rules.match($0, of: request) }
        last.withLock { $0 = Last(url: url, method: method, match: match) }
        return match
    }

    private final class Last: Sendable {
        let url: String
        let method: String
        let match: RuleMatch?

        init(url: String, method: String, match: RuleMatch?) {
            self.url = url
            self.method = method
            self.match = match
        }
    }
}
