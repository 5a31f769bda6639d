public import Foundation
public import WaystationRules
package import WaystationTransport

/// One rule of the whitelist: the requests that it takes, and how they are answered.
///
/// Rules are checked in order, and the first one that takes a request decides. A request that no rule takes is never
/// touched.
///
/// ```swift
/// $0.rules = [
///     .block("https://ads.example/**"),
///     .allow("https://img.example/**", via: .cache(.cacheFirst(for: .days(7)))),
///     .allow("https://*.news.example/**", methods: ["GET"], via: .cache(.networkFirst(timeout: .seconds(3)))),
/// ]
/// ```
///
/// The syntax of patterns is that of ``WaystationRules/URLPattern``. A pattern that is not valid is refused when the
/// interceptor is made, with the position of the fault and the text that was expected there.
public struct Rule: Sendable {
    package enum Action: Sendable {
        case allow(Route, login: LoginRequirement?)
        case block
    }

    package var definition: RuleDefinition<Action>

    /// Answers the requests that the pattern takes via `route`.
    ///
    /// - Parameters:
    ///   - pattern: The URLs, such as `https://shop.example/app/**`.
    ///   - methods: The methods; nil, the default, for all.
    ///   - queryItems: Conditions on the query's items, all of which must be true.
    ///   - predicate: A last condition in code. It runs under Foundation's process-wide lock, for every request that
    ///     passed the others: it must be pure and quick, and must not touch a `URLSession`.
    ///   - route: The sources of the answers.
    ///   - requirement: Which of these requests need a login; none by default. They wait until there is one; needs a
    ///     ``Interceptor/Configuration/login``.
    ///   - fileID: The file that contains the rule, for messages.
    ///   - line: The line of the rule, for messages.
    /// - Returns: The rule.
    public static func allow(
        _ pattern: String,
        methods: Set<String>? = nil,
        queryItems: [QueryCondition] = [],
        where predicate: (@Sendable (RuleRequest) -> Bool)? = nil,
        via route: Route,
        requiresLogin requirement: LoginRequirement? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) -> Rule {
        Rule(pattern, methods, queryItems, predicate, .allow(route, login: requirement), fileID, line)
    }

    /// Fails the requests that the pattern takes with `URLError.resourceUnavailable`, without any traffic.
    ///
    /// - Parameters:
    ///   - pattern: The URLs.
    ///   - methods: The methods; nil, the default, for all.
    ///   - queryItems: Conditions on the query's items, all of which must be true.
    ///   - predicate: A last condition in code; see
    ///     ``allow(_:methods:queryItems:where:via:requiresLogin:fileID:line:)``.
    ///   - fileID: The file that contains the rule, for messages.
    ///   - line: The line of the rule, for messages.
    /// - Returns: The rule.
    public static func block(
        _ pattern: String,
        methods: Set<String>? = nil,
        queryItems: [QueryCondition] = [],
        where predicate: (@Sendable (RuleRequest) -> Bool)? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) -> Rule {
        Rule(pattern, methods, queryItems, predicate, .block, fileID, line)
    }

    /// Rules from a whitelist that a server sent: an array of URL strings.
    ///
    /// An entry without a glob takes that URL with any query, an entry that ends in `/` takes everything below it, and
    /// globs have the same meaning as in patterns.
    ///
    /// - Parameters:
    ///   - urls: The entries of the server.
    ///   - route: The sources of the answers.
    ///   - requirement: Which of these requests need a login; none by default.
    ///   - fileID: The file that contains the call, for messages about each of the rules.
    ///   - line: The line of the call, for messages about each of the rules.
    /// - Returns: The rules, and the errors of the entries that are not valid; such an entry has no effect on the
    ///   rules.
    public static func whitelist(
        _ urls: [String],
        via route: Route,
        requiresLogin requirement: LoginRequirement? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) -> (rules: [Rule], rejected: [URLPatternError]) {
        let (rules, rejected) = RuleDefinition.whitelist(
            urls,
            action: Action.allow(route, login: requirement),
            fileID: fileID,
            line: line
        )
        return (rules.map(Rule.init(definition:)), rejected)
    }

    private init(definition: RuleDefinition<Action>) {
        self.definition = definition
    }

    private init(
        _ pattern: String,
        _ methods: Set<String>?,
        _ queryItems: [QueryCondition],
        _ predicate: (@Sendable (RuleRequest) -> Bool)?,
        _ action: Action,
        _ fileID: String,
        _ line: Int
    ) {
        definition = RuleDefinition(
            pattern,
            methods: methods,
            query: queryItems,
            action: action,
            fileID: fileID,
            line: line,
            where: predicate
        )
    }
}

extension Rule {
    /// The rule in one line, such as `allow https://img.example/** via cache`.
    package var inWords: String {
        switch definition.action {
        case .block: "block \(definition.pattern)"
        case .allow(let route, _): "allow \(definition.pattern) via \(route)"
        }
    }
}

extension Rule {
    /// A warning for each base URL of files below which the rule's pattern takes no URL.
    func basesOutside(_ pattern: URLPattern, rule index: Int) -> [RuleWarning] {
        guard case .allow(let route, _) = definition.action else { return [] }
        return route.bases.compactMap { base in
            guard let url = CanonicalURL(base), !pattern.takesSomething(below: url) else { return nil }
            let folder = base.hasSuffix("/") ? base : base + "/"
            return RuleWarning(
                .baseOutsidePattern,
                rule: index,
                pattern: definition.pattern,
                location: definition.location,
                message: """
                    the rule's files are at \(base), but its pattern takes no URL there, so none of them is ever \
                    served; write `\(folder)**` as the pattern, or serve the files at a URL that the pattern takes
                    """
            )
        }
    }
}

extension Route {
    /// The base URLs of the route's files, in the order in which they are asked.
    fileprivate var bases: [String] {
        switch kind {
        case .network, .cache, .carried, .nowhere: []
        case .files(_, let base, let otherwise): [base] + otherwise.bases
        case .pack(_, let otherwise): otherwise.bases
        }
    }
}

/// The sources from which a rule takes its answers.
public struct Route: Sendable, CustomStringConvertible {
    package indirect enum Kind: Sendable {
        case network
        case cache(CacheStrategy)
        case files(directory: URL, base: String, otherwise: Route)
        case pack(overlay: CacheStrategy?, otherwise: Route)
        case nowhere
        /// A transport that answers in place of the network; the name is for descriptions.
        case carried(any Transport, name: String)
    }

    package let kind: Kind

    package init(kind: Kind) { self.kind = kind }

    /// The network.
    ///
    /// If there is nothing to store or to change, Foundation's own loader runs the task, unless the app has set
    /// ``Interceptor/Configuration/makeTransport``: then that transport gets the request.
    public static let network = Route(kind: .network)

    /// The response cache and the network, in the order of `strategy`.
    ///
    /// It needs a ``Interceptor/Configuration/cache``.
    public static func cache(_ strategy: CacheStrategy) -> Route { Route(kind: .cache(strategy)) }

    /// The files of a directory, as a web server would serve them.
    ///
    /// - Parameters:
    ///   - directory: The folder that holds the site. It must exist when the interceptor is made.
    ///   - base: The URL of the folder's top, such as `https://app.example/shop/`. Requests for URLs outside it, and
    ///     for files that the folder lacks, continue to `otherwise`.
    ///   - otherwise: The route for such requests; the network by default.
    /// - Returns: The route.
    public static func files(in directory: URL, at base: String, orElse otherwise: Route = .network) -> Route {
        Route(kind: .files(directory: directory, base: base, otherwise: otherwise))
    }

    /// No source: the load fails with `URLError.resourceUnavailable`.
    ///
    /// It ends a chain that must not reach the network.
    public static let nowhere = Route(kind: .nowhere)

    /// A transport that answers in place of the network, for the requests of one rule.
    ///
    /// The answers of such a transport are not stored, and no request is sent again when it reports a lost connection. It
    /// also gets uploads from `Data` and from files, which Foundation alone loads otherwise.
    package static func carried(by transport: any Transport, as name: String) -> Route {
        Route(kind: .carried(transport, name: name))
    }

    /// The route as it is written in code.
    public var description: String {
        switch kind {
        case .network: "network"
        case .cache(let strategy): "cache(\(strategy))"
        case .files(let directory, let base, let otherwise):
            "files(in: \(directory.path), at: \(base), orElse: \(otherwise))"
        case .pack(nil, let otherwise): "pack(orElse: \(otherwise))"
        case .pack(let overlay?, let otherwise): "pack(overlay: \(overlay), orElse: \(otherwise))"
        case .nowhere: "nowhere"
        case .carried(_, let name): name
        }
    }
}
