public import Foundation
public import WaystationHTTP

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
/// The syntax of patterns is that of ``WaystationHTTP/URLPattern``. A pattern that is not valid is refused when the
/// interceptor is made, with the position of the fault and the text that was expected there.
public struct Rule: Sendable {
    package struct Action: Sendable {
        package let route: Route
        /// Which of the requests need a login; nil if none does.
        package let login: LoginRequirement?
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
        Rule(pattern, methods, queryItems, predicate, Action(route: route, login: requirement), fileID, line)
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
        Rule(pattern, methods, queryItems, predicate, Action(route: .block, login: nil), fileID, line)
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
            action: Action(route: route, login: requirement),
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
        let route = definition.action.route
        return route.isBlock ? "block \(definition.pattern)" : "allow \(definition.pattern) via \(route)"
    }
}

extension Rule {
    /// A warning for each base URL of files below which the rule's pattern takes no URL.
    func basesOutside(_ pattern: URLPattern, rule index: Int) -> [RuleWarning] {
        definition.action.route.steps.compactMap(\.base).compactMap { base in
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

/// The sources from which a rule takes its answers.
public struct Route: Sendable, CustomStringConvertible {
    /// One source of a route, before the interceptor is made.
    struct Step: Sendable {
        /// The source as it is written in code.
        let name: String
        /// The arguments as they are written in code; nil for a source that never declines, and so is the last one.
        var arguments: [String]?
        /// The base URL of the source's files; nil if it has none.
        var base: String?
        /// Whether the source fails each request.
        var isBlock = false
        /// Makes the source.
        let make: @Sendable (RouteContext) throws -> any AnswerSource
    }

    /// The sources in the order in which they are asked.
    let steps: [Step]

    private init(_ step: Step? = nil, orElse next: Route? = nil) {
        steps = [step].compactMap(\.self) + (next?.steps ?? [])
    }

    /// The network.
    ///
    /// If there is nothing to store or to change, Foundation's own loader runs the task, unless the app has set
    /// ``Interceptor/Configuration/makeTransport``: then that transport gets the request.
    public static let network = Route(Step(name: "network") { _ in NetworkSource() })

    /// The response cache and the network, in the order of `strategy`.
    ///
    /// It needs a ``Interceptor/Configuration/cache``.
    ///
    /// ```swift
    /// $0.rules = [.allow("https://shop.example/prices/**", via: .cache(.standard, tags: ["prices"]))]
    /// ```
    ///
    /// - Parameters:
    ///   - strategy: How the cache and the network are used.
    ///   - key: Which requests one stored response answers; by default, those for the same URL.
    ///   - tags: Names of the app's own for the responses that are stored, by which ``ResponseCache/purge(tag:as:)`` purges
    ///     them together; none by default. A tag is printable ASCII and not empty; another one is refused when the
    ///     interceptor is made. Responses that are stored already keep the tags that they have.
    /// - Returns: The route.
    public static func cache(_ strategy: CacheStrategy, key: CacheKey = .url, tags: [String] = []) -> Route {
        let additions = (key.isURL ? [] : ["key: .\(key)"]) + (tags.isEmpty ? [] : ["tags: \(tags)"])
        let name = "cache(\((["\(strategy)"] + additions).joined(separator: ", ")))"
        return Route(
            Step(name: name) { context in
                if strategy.kind != .networkOnly { try context.checkCache(for: name) }
                try context.check(tags: tags)
                try context.check(key)
                return CacheSource(strategy: strategy, key: key, tags: tags)
            }
        )
    }

    /// The files of a directory, as a web server would serve them.
    ///
    /// - Parameters:
    ///   - directory: The folder that holds the site. It must exist when the interceptor is made.
    ///   - base: The URL of the folder's top, such as `https://app.example/shop/`. Requests for URLs outside it, and
    ///     for files that the folder lacks, continue to `otherwise`.
    ///   - otherwise: The route for such requests; the network by default.
    /// - Returns: The route.
    public static func files(in directory: URL, at base: String, orElse otherwise: Route = .network) -> Route {
        let step = Step(name: "files", arguments: ["in: \(directory.path)", "at: \(base)"], base: base) { context in
            try DirectorySource(directory, at: base, rule: context.rule)
        }
        return Route(step, orElse: otherwise)
    }

    /// A source of the app's own.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - otherwise: The route for requests that the source declines; the network by default.
    /// - Returns: The route.
    public static func source(_ source: any AnswerSource, orElse otherwise: Route = .network) -> Route {
        let step = Step(name: "source", arguments: [source.name]) { context in
            try context.check(nameOf: source)
            return source
        }
        return Route(step, orElse: otherwise)
    }

    /// No source: the load fails with `URLError.resourceUnavailable`.
    ///
    /// It ends a chain that must not reach the network.
    public static let nowhere = Route()

    /// No source, because a rule blocks the requests.
    static let block = Route(Step(name: "block", isBlock: true) { _ in BlockingSource() })

    /// Whether the requests are blocked.
    package var isBlock: Bool { steps.first?.isBlock ?? false }

    /// The installed packs.
    ///
    /// - Parameters:
    ///   - strategy: Decides when the network is asked about a file of a pack; nil for never.
    ///   - otherwise: The route for requests that no pack answers.
    /// - Returns: The route.
    package static func installedPacks(overlay strategy: CacheStrategy?, orElse otherwise: Route) -> Route {
        let arguments = strategy.map { ["overlay: \($0)"] } ?? []
        let step = Step(name: "pack", arguments: arguments) { context in
            guard let strategy else { return PackSource(packs: try context.installedPacks()) }
            try context.checkCache(for: "pack(overlay: \(strategy))")
            return OverlaidPackSource(packs: try context.installedPacks(), strategy: strategy)
        }
        return Route(step, orElse: otherwise)
    }

    /// A transport that answers in place of the network, for the requests of one rule.
    ///
    /// The answers of such a transport are not stored, and no request is sent again when it reports a lost connection. It
    /// also gets uploads from `Data` and from files, which Foundation alone loads otherwise.
    package static func carried(by transport: any Transport, as name: String) -> Route {
        Route(Step(name: name) { _ in TransportSource(transport: transport, name: name) })
    }

    /// The route as it is written in code.
    public var description: String {
        steps.reversed().reduce("nowhere") { next, step in
            guard let arguments = step.arguments else { return step.name }
            return "\(step.name)(\((arguments + ["orElse: \(next)"]).joined(separator: ", ")))"
        }
    }

    /// Makes the sources, in the order in which they are asked.
    func sources(in context: RouteContext) throws -> [any AnswerSource] { try steps.map { try $0.make(context) } }
}

/// The parts of an interceptor that the sources of a rule need.
struct RouteContext {
    /// The index of the rule, for messages.
    let rule: Int
    let hasCache: Bool
    let packs: (any InstalledPacks)?
    let hasLogin: Bool

    /// Throws if the interceptor has no cache.
    func checkCache(for source: String) throws {
        guard !hasCache else { return }
        throw WaystationError(
            .missingCache,
            "rule \(rule) answers via \(source), but the interceptor has no cache: set `cache` to a ResponseCache"
        )
    }

    /// Throws if a tag cannot be stored.
    func check(tags: [String]) throws {
        guard let tag = tags.first(where: { $0.isEmpty || !StructuredStrings.isString($0) }) else { return }
        throw WaystationError(
            .invalidRules,
            "rule \(rule) has the tag \(tag.quoted()): write a tag in printable ASCII, such as prices, and not empty"
        )
    }

    /// Throws if a key has a name or a method that has no meaning there.
    func check(_ key: CacheKey) throws {
        let problem: String
        if key.query.ignored.contains("") {
            problem = "ignores an item of the query without a name: write its name, such as utm_source"
        } else if let name = key.query.ignored.first(where: { $0.dropLast().contains("*") }) {
            problem = "ignores \(name.quoted()): write * only at the end of a name, such as utm_*"
        } else if let method = key.methods.subtracting(CacheKey.methodsWithBody).sorted().first {
            let known = CacheKey.methodsWithBody.sorted().joined(separator: ", ")
            problem = "includes the body of \(method.quoted()): only requests with \(known) ask for something by a body"
        } else {
            return
        }
        throw WaystationError(.invalidRules, "rule \(rule) has a cache key that \(problem)")
    }

    /// Throws if a source of the app's own has no name of its own.
    func check(nameOf source: any AnswerSource) throws {
        let name = source.name
        guard !name.utf8.isToken || LoadEvent.Source.builtIn.contains(where: { $0.description == name }) else { return }
        throw WaystationError(
            .invalidRules,
            """
            rule \(rule) has a source named \(name.quoted()): name it by letters, digits and hyphens, such as pages, and \
            not as one of \(LoadEvent.Source.builtIn.map(\.description).joined(separator: ", "))
            """
        )
    }

    /// The installed packs; throws if the interceptor has none.
    func installedPacks() throws -> any InstalledPacks {
        if let packs { return packs }
        throw WaystationError(
            .missingPacks,
            "rule \(rule) answers via pack, but the interceptor has no packs: set `packs` to a PackLibrary"
        )
    }
}
