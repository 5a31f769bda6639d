import Synchronization
import WaystationFields
import WaystationFiles
import WaystationFoundation
import WaystationRules
import WaystationTransport

/// The rules of an interceptor, ready for decisions: patterns are compiled, directories open.
struct CompiledRules: Sendable {
    /// A route whose preparations are done.
    indirect enum Step: Sendable {
        case network
        case cache(CacheStrategy)
        case files(MountedDirectory, otherwise: Step)
        case pack(any InstalledPacks, overlay: CacheStrategy?, otherwise: Step)
        case nowhere
        case carried(any Transport)
        case block
        /// The inner step, after a login if the request needs one.
        case login(LoginRequirement, then: Step)

        /// Whether requests that the route cannot answer continue to the network.
        var reachesNetwork: Bool {
            switch self {
            case .network: true
            case .cache(let strategy): strategy != .cacheOnly
            case .files(_, let otherwise): otherwise.reachesNetwork
            case .pack(_, let overlay, let otherwise):
                otherwise.reachesNetwork || overlay.map { $0 != .cacheOnly } ?? false
            case .nowhere, .block, .carried: false
            case .login(_, let then): then.reachesNetwork
            }
        }

        /// Whether requests are refused.
        var isBlock: Bool { if case .block = self { true } else { false } }

        /// Whether requests that the route's other sources cannot answer continue to a transport of the rule's own.
        var isCarried: Bool {
            switch self {
            case .carried: true
            case .files(_, let otherwise), .pack(_, _, let otherwise): otherwise.isCarried
            case .login(_, let then): then.isCarried
            case .network, .cache, .nowhere, .block: false
            }
        }

        /// The requirement that says which requests need a login; nil when none does.
        var requirement: LoginRequirement? {
            if case .login(let requirement, _) = self { requirement } else { nil }
        }
    }

    private let table: RuleTable<Step>
    private let steps: [Step]
    /// Whether each rule has no condition beside its pattern.
    private let areUnconditional: [Bool]
    /// Whether every rule leads to the network and nowhere else.
    let areNetworkAlone: Bool
    /// Whether any rule has a predicate.
    ///
    /// Only predicates read header fields.
    let hasPredicates: Bool
    /// The warnings about rules that probably do not do what was meant, in the order of the rules.
    let warnings: [RuleWarning]

    init(_ rules: [Rule], hasCache: Bool, packs: (any InstalledPacks)?, hasLogin: Bool = false) throws {
        var definitions: [RuleDefinition<Step>] = []
        definitions.reserveCapacity(rules.count)
        for (index, rule) in rules.enumerated() {
            let definition = rule.definition
            var compiled = RuleDefinition(
                definition.pattern,
                methods: definition.methods,
                query: definition.query,
                action: try Step(
                    definition.action,
                    hasCache: hasCache,
                    packs: packs,
                    hasLogin: hasLogin,
                    rule: index
                ),
                where: definition.predicate
            )
            compiled.location = definition.location
            definitions.append(compiled)
        }
        steps = definitions.map(\.action)
        areUnconditional = definitions.map { $0.methods == nil && $0.query.isEmpty && $0.predicate == nil }
        areNetworkAlone = steps.allSatisfy { if case .network = $0 { true } else { false } }
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
            if steps[index].isBlock {
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
            guard steps[index].isBlock else { return false }
            if areUnconditional[index], pattern.takesEveryPath { return true }
        }
        return false
    }

    /// The step of the rule at an index.
    func step(of rule: Int) -> Step { steps[rule] }

    /// The first rule that takes the request, with its step.
    func match(_ canonical: CanonicalRequest, of request: URLRequest) -> RuleTable<Step>.Match? {
        table.match(ruleRequest(canonical, request))
    }

    /// The decision about a request, with its reasons.
    func decision(_ canonical: CanonicalRequest, of request: URLRequest) -> RuleDecision<Step> {
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

extension CompiledRules.Step {
    fileprivate init(
        _ action: Rule.Action,
        hasCache: Bool,
        packs: (any InstalledPacks)?,
        hasLogin: Bool,
        rule: Int
    ) throws {
        switch action {
        case .block: self = .block
        case .allow(let route, let requirement):
            let step = try Self(route, hasCache: hasCache, packs: packs, rule: rule)
            guard let requirement else {
                self = step
                return
            }
            guard hasLogin else {
                throw WaystationError(
                    .missingLogin,
                    "rule \(rule) requires a login, but the interceptor has none: set `login` to a LoginSession"
                )
            }
            self = .login(requirement, then: step)
        }
    }

    private init(_ route: Route, hasCache: Bool, packs: (any InstalledPacks)?, rule: Int) throws {
        switch route.kind {
        case .network: self = .network
        case .nowhere: self = .nowhere
        case .carried(let transport, _): self = .carried(transport)
        case .cache(let strategy):
            guard hasCache || strategy.kind == .networkOnly else { throw Self.missingCache(route, rule: rule) }
            self = .cache(strategy)
        case .files(let directory, let base, let otherwise):
            self = .files(
                try MountedDirectory(directory, at: base, rule: rule),
                otherwise: try Self(otherwise, hasCache: hasCache, packs: packs, rule: rule)
            )
        case .pack(let overlay, let otherwise):
            guard hasCache || overlay == nil else { throw Self.missingCache(route, rule: rule) }
            guard let packs else {
                throw WaystationError(
                    .missingPacks,
                    "rule \(rule) answers via pack, but the interceptor has no packs: set `packs` to a PackLibrary"
                )
            }
            self = .pack(
                packs,
                overlay: overlay,
                otherwise: try Self(otherwise, hasCache: hasCache, packs: packs, rule: rule)
            )
        }
    }

    private static func missingCache(_ route: Route, rule: Int) -> WaystationError {
        WaystationError(
            .missingCache,
            "rule \(rule) answers via \(route), but the interceptor has no cache: set `cache` to a ResponseCache"
        )
    }
}

/// Finds the rule that takes a request.
///
/// Foundation asks several times in a row about one request, so the last answer is kept. It depends only on URL and
/// method, unless a rule has a predicate.
final class RequestMatcher: Sendable {
    /// A request in canonical form, with the rule that takes it and its step.
    ///
    /// A class, because a hop is copied from station to station.
    final class Match: Sendable {
        let canonical: CanonicalRequest
        let step: CompiledRules.Step
        let rule: Int

        init(canonical: CanonicalRequest, step: CompiledRules.Step, rule: Int) {
            self.canonical = canonical
            self.step = step
            self.rule = rule
        }
    }

    let rules: CompiledRules
    private let last = Mutex<Last?>(nil)

    init(_ rules: CompiledRules) { self.rules = rules }

    /// The rule that takes a request; nil when none does.
    func match(_ request: URLRequest) -> Match? {
        guard let url = request.url?.absoluteString else { return nil }
        let method = request.httpMethod ?? "GET"
        if !rules.hasPredicates, let known = last.withLock({ $0 }), known.url == url, known.method == method {
            return known.match
        }
        let match = CanonicalRequest(request).flatMap { canonical in
            rules.match(canonical, of: request).map {
                Match(canonical: canonical, step: $0.action, rule: $0.index)
            }
        }
        last.withLock { $0 = Last(url: url, method: method, match: match) }
        return match
    }

    private final class Last: Sendable {
        let url: String
        let method: String
        let match: Match?

        init(url: String, method: String, match: Match?) {
            self.url = url
            self.method = method
            self.match = match
        }
    }
}

/// A directory of files under a base URL.
struct MountedDirectory: Sendable {
    let directory: OfflineDirectory
    private let origin: String
    private let basePath: String

    init(_ root: URL, at base: String, rule: Int) throws {
        guard let url = CanonicalURL(base)?.plain, url.query == nil else {
            throw WaystationError(
                .invalidBaseURL,
                "rule \(rule) serves files at \(base.quoted()), which is not an absolute URL without a query, such as https://app.example/shop/"
            )
        }
        origin = url.origin
        let path = String(url.path)
        basePath = path.hasSuffix("/") ? path : path + "/"
        do {
            directory = try OfflineDirectory(root)
        } catch {
            throw WaystationError(
                .unusableDirectory,
                "rule \(rule) serves files that cannot be opened: \(error)",
                cause: error
            )
        }
    }

    /// The path of a URL below the base, percent-encoded and from the slash on with which the base ends; nil when the
    /// URL is elsewhere.
    ///
    /// It is empty for the base itself, written without its slash. A URL with another slash after the base is elsewhere:
    /// a directory ignores a slash at the start of a path, so the file would have a second URL, which the rules for the
    /// first one do not match.
    func relativePath(of url: CanonicalURL) -> Substring? {
        guard url.origin == origin else { return nil }
        let path = url.plain.path
        guard path.utf8.starts(with: basePath.utf8) else { return path + "/" == basePath ? "" : nil }
        let relative = path[path.utf8.index(path.startIndex, offsetBy: basePath.utf8.count - 1)...]
        return relative.utf8.starts(with: "//".utf8) ? nil : relative
    }
}
