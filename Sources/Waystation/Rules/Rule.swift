public import WaystationRules

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
