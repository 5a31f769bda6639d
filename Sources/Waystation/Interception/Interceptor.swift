public import Logging
import Synchronization
public import WaystationFoundation
public import WaystationHTTP
import WaystationStorage

#if Tracing
public import Tracing
#endif

/// Intercepts the loads of sessions by rules in code: it answers them from files and from the response cache, or sends
/// them to the network.
///
/// ```swift
/// let interceptor = try Interceptor {
///     $0.rules = [.allow("https://img.example/**", via: .cache(.cacheFirst(for: .days(7))))]
///     $0.cache = try ResponseCache(directory: caches)
/// }
/// let session = URLSession(configuration: .default.intercepted(by: interceptor))
/// ```
///
/// Several interceptors live side by side, each bound to the sessions made from its configurations. All members
/// may be called from any thread.
public final class Interceptor: Sendable {
    package let configuration: Configuration
    let environment: LoadEnvironment
    let matcher: RequestMatcher
    let sources: SourceEnvironment
    /// The cookies of the requests; nil when Foundation chooses them.
    package let cookies: CookieStore?
    /// The syncs of the storages whose changes a request must wait for.
    private let storages: [CookieSync]
    private let madeNetworks = Mutex<[WeakNetwork]>([])
    private let isSwitchedOn = Atomic(true)

    /// Makes an interceptor.
    ///
    /// - Parameter configure: Fills in the configuration.
    /// - Throws: ``WaystationError`` with the code `invalidRules`, `invalidBaseURL`, `unusableDirectory`,
    ///   `missingCache`, `missingPacks`, `missingLogin`, `invalidLogin`, `invalidLinks` or `invalidHeaderBody`; any error
    ///   that `configure` throws.
    public convenience init(_ configure: (inout Configuration) throws -> Void) throws {
        var configuration = Configuration()
        try configure(&configuration)
        try self.init(configuration)
    }

    /// Makes an interceptor from a configuration.
    ///
    /// - Parameter configuration: The configuration.
    /// - Throws: ``WaystationError`` with the code `invalidRules`, `invalidBaseURL`, `unusableDirectory`,
    ///   `missingCache`, `missingPacks`, `missingLogin`, `invalidLogin`, `invalidLinks` or `invalidHeaderBody`.
    public init(_ configuration: Configuration) throws {
        try configuration.headerBody?.check()
        try configuration.externalLinks?.check()
        let rules = try CompiledRules(
            configuration.rules,
            hasCache: configuration.cache != nil,
            packs: configuration.installedPacks,
            hasLogin: configuration.login != nil
        )
        var own = configuration
        own.externalLinks?.schemesOfRules = rules.schemesBesideHTTP
        let cookies =
            try own.login?.attach(cookies: own.cookies, now: own.now, schedule: own.schedule) ?? own.cookies
        let events = EventBroadcaster(logger: own.logger)
        self.configuration = own
        self.cookies = cookies
        storages = own.cookieStorages.compactMap {
            cookies?.sync(with: $0, limit: own.storageTimeout, schedule: own.schedule)
        }
        environment = LoadEnvironment(own, events)
        matcher = RequestMatcher(rules)
        sources = SourceEnvironment(own, rules, choosesCookies: cookies != nil, events)
        listen()
        own.login?.add(self)
        log(rules.warnings)
    }

    /// Passes on the events of what it depends on.
    private func listen() {
        let events = environment.events
        let (packs, cache) = (configuration.installedPacks, configuration.cache)
        packs?.listen(for: events) { [weak events, weak cache] event, changed in
            if let changed { Overlay.drop(changed, in: cache?.store) }
            events?.emit(LoadEvent(kind: .source(event)))
        }
        for event in packs?.problems ?? [] { events.emit(LoadEvent(kind: .source(event))) }
        configuration.cache?.addListener(for: events) { [weak events] event in
            events?.emit(LoadEvent(kind: .store(event)))
        }
        configuration.cache?.addListener(for: events) { [weak events] event in
            events?.emit(LoadEvent(kind: .shared(event)))
        }
        cookies?.addListener(for: events) { [weak events] event in events?.emit(LoadEvent(kind: .cookies(event))) }
    }

    /// The number of warnings about rules that are logged; a whitelist of a server may cause thousands.
    private static let loggedWarnings = 20

    private func log(_ warnings: [RuleWarning]) {
        for warning in warnings.prefix(Self.loggedWarnings) { configuration.logger.warning("\(warning)") }
        let rest = warnings.count - Self.loggedWarnings
        guard rest > 0 else { return }
        configuration.logger.warning("\(rest) more rules have a warning; Interceptor.warnings names all of them")
    }

    /// Whether requests are intercepted; true at first.
    ///
    /// While it is false, Foundation's own loader runs the tasks that begin then. Loads that are under way continue as
    /// they began.
    public var isEnabled: Bool {
        get { isSwitchedOn.load(ordering: .relaxed) }
        set { isSwitchedOn.store(newValue, ordering: .relaxed) }
    }

    /// The present problems (``condition``), followed by all new events, as a new stream for each call.
    ///
    /// A reader that falls more than 4,096 events behind loses the oldest. The streams end with the interceptor.
    public var events: AsyncStream<LoadEvent> {
        environment.events.makeStream { self.condition }
    }

    /// The present problems of the cache, the packs and the cookies, as the events that reported them; empty if they
    /// have no problem.
    public var condition: [LoadEvent] {
        (configuration.cache?.condition ?? []).map { LoadEvent(kind: .store($0)) }
            + (configuration.installedPacks?.problems ?? []).map { LoadEvent(kind: .source($0)) }
            + (cookies?.condition ?? []).map { LoadEvent(kind: .cookies($0)) }
    }

    /// Warnings about rules that are valid but probably do not do what was meant, in the order of the rules.
    ///
    /// Such rules are one that an earlier rule lets no request reach, one whose set of methods is empty, files at a base
    /// URL that the rule's pattern does not take, a pattern such as `https://api.example.com`, which takes only the front
    /// page, and a pattern with an unclosed `[`. The rules are used as they are written; the first 20 warnings are logged
    /// when the interceptor is made.
    public var warnings: [RuleWarning] { matcher.rules.warnings }

    /// Returns which rule takes a request, or the reasons why none does.
    ///
    /// It has no side effects.
    public func decision(for request: URLRequest) -> Decision {
        guard isEnabled else { return .untouched(reasons: ["the interceptor is switched off"]) }
        if ForwardingTag.isTagged(request) { return .untouched(reasons: ["an interceptor sent the request"]) }
        if isExternalLink(request) { return .openedElsewhere }
        guard let canonical = CanonicalRequest(request) else {
            return .untouched(reasons: ["\(request.url?.shown ?? "nil") is not an absolute URL"])
        }
        if configuration.rules.isEmpty { return .untouched(reasons: ["the interceptor has no rules"]) }
        switch matcher.rules.decision(canonical, of: request) {
        case .matched(let index, let pattern, let rule):
            if rule.isBlock { return .blocked(rule: index, pattern: "\(pattern)") }
            return .allowed(rule: index, pattern: "\(pattern)")
        case .unmatched(let reasons):
            return .untouched(reasons: reasons.map { "\($0)" })
        }
    }

    /// Returns which rule takes a GET of a URL, or the reasons why none does.
    public func decision(for url: URL) -> Decision { decision(for: URLRequest(url: url)) }

    /// The decision of the rules about a request.
    public enum Decision: Equatable, Sendable {
        /// The rule at this index answers the request.
        case allowed(rule: Int, pattern: String)
        /// The rule at this index blocks the request.
        case blocked(rule: Int, pattern: String)
        /// The request is passed to the handler of external links.
        case openedElsewhere
        /// The request is left to Foundation; the reasons say why the nearest rules did not take it.
        case untouched(reasons: [String])
    }

    /// Whether the interceptor takes a request.
    ///
    /// It is pure and quick, because it runs under a lock of the whole process.
    func claims(_ request: URLRequest) -> Bool {
        !ForwardingTag.isTagged(request) && claimsForwarded(request)
    }

    /// Whether the interceptor takes a request, also one that an interceptor sent.
    func claimsForwarded(_ request: URLRequest) -> Bool {
        isEnabled && (matcher.match(request) != nil || isExternalLink(request))
    }

    private func isExternalLink(_ request: URLRequest) -> Bool {
        configuration.externalLinks?.contain(request.url) ?? false
    }

    // MARK: - Networks

    private struct WeakNetwork: Sendable {
        weak var network: Network?
    }

    /// The networks of the configurations that are intercepted.
    var networks: [Network] { madeNetworks.withLock { $0.compactMap(\.network) } }

    /// Makes the network of a configuration, and records it: a log-out removes its credentials.
    func makeNetwork(_ configuration: URLSessionConfiguration) -> Network {
        let own = self.configuration
        let cookies = cookies.map { store in
            SessionCookies(
                store,
                login: own.login?.id,
                for: configuration,
                synchronize: { store.sync(with: $0, limit: own.storageTimeout, schedule: own.schedule) }
            )
        }
        let network = Network(
            configuration,
            cookies: cookies,
            asksClasses: own.hasOwnTransport && own.leavesOtherTasks,
            backlog: environment.backlog,
            clearCache: sources.fetches?.cache.clear,
            makeTransport: own.makeTransport
        )
        madeNetworks.withLock { networks in
            networks.removeAll { $0.network == nil }
            networks.append(WeakNetwork(network: network))
        }
        return network
    }

    /// Makes the stations of the loads that use a network.
    ///
    /// - Parameters:
    ///   - network: The network.
    ///   - answersSeveralUsers: Whether the loads are those of clients with credentials of their own.
    /// - Returns: The stations.
    func makeStations(_ network: Network, answersSeveralUsers: Bool = false) -> Stations {
        Stations(
            links: configuration.externalLinks,
            matcher: matcher,
            headerBody: configuration.headerBody,
            login: configuration.login,
            cookies: network.cookies,
            cookieField: network.cookieField,
            storages: storages,
            sources: answersSeveralUsers ? sources.forSeveralUsers : sources
        )
    }
}

extension Interceptor.Configuration {
    /// The tracer of loads; nil if no spans would be kept.
    fileprivate var loadTracer: LoadTracer? {
        #if Tracing
        guard let tracer, !(tracer is NoOpTracer) else { return nil }
        return LoadTracer(tracer)
        #else
        return nil
        #endif
    }
}

extension LoadEnvironment {
    fileprivate convenience init(_ configuration: Interceptor.Configuration, _ events: EventBroadcaster) {
        self.init(
            events: events,
            backlog: LoadBacklog(storingIn: configuration.cache?.store),
            recorder: configuration.recorder,
            tracer: configuration.loadTracer,
            files: configuration.files,
            now: configuration.now,
            schedule: configuration.schedule
        )
    }
}

extension SourceEnvironment {
    fileprivate convenience init(
        _ configuration: Interceptor.Configuration,
        _ rules: CompiledRules,
        choosesCookies: Bool,
        _ events: EventBroadcaster
    ) {
        let access = configuration.cache.map { cache in
            cache.keyedURLs.add(rules.queryChoices)
            return CacheAccess(
                cache.store,
                shared: cache.shared,
                keyedURLs: cache.keyedURLs,
                rules: configuration.cachingRules,
                storesCodedBodies: configuration.storesCodedBodies,
                now: configuration.now,
                schedule: configuration.schedule,
                events: events
            )
        }
        self.init(
            fetches: access.map { Fetches($0) },
            events: events,
            login: configuration.login,
            bodySpool: configuration.bodySpool,
            hasOwnTransport: configuration.hasOwnTransport,
            forwardsAll: choosesCookies || configuration.hasOwnTransport || configuration.externalLinks != nil
                || !rules.areNetworkAlone
        )
    }
}

/// The parts of an interceptor that a tool shows to developers.
extension Interceptor {
    /// The rules as the app wrote them.
    package var rules: [Rule] { configuration.rules }

    /// The response cache; nil if the interceptor has none.
    package var cache: ResponseCache? { configuration.cache }

    /// The rules of caching, by which the freshness of a stored response is calculated.
    package var cachingRules: CachingRules { configuration.cachingRules }

    /// The clock.
    package var now: @Sendable () -> Date { configuration.now }

    /// Gives all exchanges of loads that begin from now on to one more recorder, and returns the function that removes
    /// it.
    package func addRecorder(_ recorder: any ExchangeRecorder) -> @Sendable () -> Void {
        environment.recorders.add(recorder)
    }
}

extension Interceptor {
    /// The engine that carries requests to the network; see ``Configuration/transport``.
    public struct Carrier: Sendable {
        /// Makes the transport of a session from its configuration.
        let makeTransport: @Sendable (URLSessionConfiguration) -> any Transport
        let isFoundation: Bool

        /// Foundation's own loader, the default.
        ///
        /// Requests for which there is nothing to store or to change are handed back to it.
        public static let urlSession = Carrier(isFoundation: true) { URLSessionTransport(configuration: $0) }

        /// Another engine.
        ///
        /// It carries every data task that a rule lets through to the network, except requests that it cannot carry
        /// (``Transport/canCarry(_:)``), and those that a protocol class of the app's own
        /// configuration takes: Foundation's loader carries these. Uploads and web sockets stay with
        /// Foundation. To keep them from the network, set ``Configuration/makeTransport`` instead.
        ///
        /// - Parameter makeTransport: Makes the transport of a session from its configuration.
        public init(_ makeTransport: @escaping @Sendable (URLSessionConfiguration) -> any Transport) {
            self.init(isFoundation: false, makeTransport)
        }

        private init(
            isFoundation: Bool,
            _ makeTransport: @escaping @Sendable (URLSessionConfiguration) -> any Transport
        ) {
            self.isFoundation = isFoundation
            self.makeTransport = makeTransport
        }
    }
}

extension Interceptor: LoginUser {
    func report(_ event: LoginEvent) { environment.events.emit(LoadEvent(kind: .login(event))) }

    func forget(_ login: LoginSession) async {
        if let store = configuration.cache?.store {
            var scopes = [ResponseScope.partitions(prefix: LoginPartitions.prefix(of: login.account))]
            // Responses that overlay packs are stored for all logins together, so all of them go; the packs themselves
            // stay.
            if configuration.installedPacks != nil { scopes.append(.partitions(prefix: Overlay.prefix)) }
            for scope in scopes {
                do {
                    try await store.remove(scope)
                } catch {
                    // The process no longer finds the responses of an ended login, although removing them failed.
                    let problem = "cannot remove the responses of an ended login: \(error)"
                    environment.events.emit(LoadEvent(kind: .degraded(problem)))
                }
            }
        }
        for network in networks { network.credentials?.removeAll(of: login) }
    }
}

extension URLCredentialStorage {
    fileprivate func removeAll(of login: LoginSession) {
        for (space, credentials) in allCredentials {
            var components = URLComponents()
            components.scheme = "https"
            components.host = space.host
            guard login.covers(components.url) else { continue }
            for credential in credentials.values { remove(credential, for: space) }
        }
    }
}

extension Interceptor {
    /// Explains how a request would be answered now: by which rule, from which source, and for the cache by which
    /// arithmetic.
    ///
    /// Nothing is sent, no login begins, and the app's cookies are not changed. The cache, the packs, the files and the
    /// app's own sources are asked as for a load, which counts as a use of the stored response. Cancelling the task cancels
    /// the look-up of an own source. The request is judged as a session of
    /// `.default` would send it: fields and cookies that the app's own session adds are not known here.
    public func explain(_ request: URLRequest) async -> Explanation {
        let configuration = URLSessionConfiguration.default
        // The storage that sessions of `.default` share would be kept in step with the store's cookies from now on: each
        // would get the cookies of the other.
        configuration.httpCookieStorage = nil
        return await ClientLoads(self, configuration).explanation(of: request)
    }

    /// Explains how a GET of a URL would be answered now.
    public func explain(_ url: URL) async -> Explanation { await explain(URLRequest(url: url)) }
}

extension Interceptor {
    /// The dependencies and options of an interceptor.
    public struct Configuration: Sendable {
        // MARK: Dependencies

        /// The response cache that rules with `.cache(…)` use; nil by default.
        ///
        /// Several interceptors may share one.
        public var cache: ResponseCache?
        /// The installed packs that rules with `.pack` use; the property `packs` of `WaystationPacks` sets them.
        package var installedPacks: (any InstalledPacks)?
        /// The file system of the files that downloads get.
        package var files: any FileSystem = LocalFileSystem()
        /// The cookies that requests carry, chosen as RFC 6265 says; nil, the default, leaves them to Foundation.
        ///
        /// If a login is set and no store, the interceptor uses a store in memory.
        public var cookies: CookieStore?
        /// The login that rules may require; nil by default.
        public var login: LoginSession?
        /// Further places that hold the same cookies, kept in step in both directions; none by default.
        ///
        /// The `HTTPCookieStorage` of each session is such a place without being named here.
        public var cookieStorages: [any CookieStorage] = []
        /// The engine that carries requests to the network; Foundation's own by default.
        ///
        /// Setting this property also sets ``makeTransport``; the one that is set last counts. Unlike a transport that is
        /// set there, an engine leaves uploads and web sockets to Foundation.
        public var transport: Carrier = .urlSession {
            didSet {
                makeTransport = transport.makeTransport
                hasOwnTransport = !transport.isFoundation
                leavesOtherTasks = true
            }
        }
        /// Makes the network of a session from its configuration; ``URLSessionTransport`` by default.
        ///
        /// It is called with the first request that needs it, for each configuration that is intercepted. If several
        /// requests make transports at the same time, one of them is used. The configuration has no cookie storage:
        /// requests have their cookies, and those of responses are stored whatever the transport is.
        ///
        /// Once it is set, every data task that a rule lets through to the network uses this transport. No load is
        /// handed back to Foundation's own loader, whose traffic would bypass the transport: uploads and web sockets that
        /// a rule takes fail with ``WaystationError/Code/transportNeedsDataTask``, unless
        /// ``leavesTasksToFoundation`` allows them.
        public var makeTransport: @Sendable (URLSessionConfiguration) -> any Transport = {
            URLSessionTransport(configuration: $0)
        }
        {
            didSet {
                hasOwnTransport = true
                leavesOtherTasks = false
            }
        }
        /// Whether the app has set ``makeTransport``.
        private(set) var hasOwnTransport = false
        /// Whether the engine leaves tasks that are not data tasks to Foundation.
        private(set) var leavesOtherTasks = false
        /// Gets each load with its body; nil, the default, collects nothing and costs nothing.
        public var recorder: (any ExchangeRecorder)?
        #if Tracing
        /// Gets a span for each load, and one for each exchange of a load with an origin.
        ///
        /// By default, it is the tracer of the process (`InstrumentationSystem.tracer`) at the time when the interceptor is
        /// made. Nil traces nothing.
        ///
        /// The spans have OpenTelemetry's attributes of HTTP clients, and `waystation.source`, `waystation.rule`,
        /// `waystation.cache_status` and `waystation.exchange`. URLs in them have no secrets. The context of an exchange's
        /// span is put into the fields of its request. A request that Foundation's own loader sends, after the task was
        /// handed back, has none.
        public var tracer: (any Tracer)? = InstrumentationSystem.tracer
        #endif
        /// The clock; the system's by default.
        public var now: @Sendable () -> Date = { Date() }
        /// Runs an action after a delay; uses a dispatch timer by default.
        public var schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void = {
            DispatchQueue.global().asyncAfter(deadline: .now() + $0.inSeconds, execute: $1)
        }
        /// The log of the interceptor: warnings for problems, all other entries at `debug` and `trace`.
        public var logger = Logger(label: "waystation")

        // MARK: Options

        /// The choices that the RFCs of HTTP caching leave to a cache; they apply mainly to `.standard` and
        /// `.revalidate`.
        public var cachingRules = CachingRules()

        /// How long a storage of cookies may take for a sync; 3 s by default.
        public var storageTimeout = Duration.seconds(3)

        /// The rules, in order; none by default, so that nothing is touched.
        public var rules: [Rule] = []

        /// The form of request bodies in header fields; nil, the default, leaves header fields as they are.
        ///
        /// It is for apps whose pages send their bodies in that form.
        public var headerBody: HeaderBody?
        /// How body streams are stored so that they can be sent again; by default in memory up to 1 MiB, otherwise in a
        /// file.
        ///
        /// With nil, a stream is sent once, by Foundation's own loader: after a redirect its body is missing, and the
        /// exchange takes as long as the app takes to write the body.
        public var bodySpool: BodySpool? = BodySpool()
        /// Whether uploads and web sockets are left to Foundation's own loader although the app has set
        /// ``makeTransport``; false by default.
        ///
        /// Only Foundation can load such tasks, and its traffic bypasses the app's transport. If the app has set no
        /// transport, such tasks are always left to Foundation.
        public var leavesTasksToFoundation = false
        /// Whether bodies that arrive in a content coding, gzip for instance, are stored; false by default.
        ///
        /// Foundation decodes such bodies and reports no error when the coded bytes end too early, so the library
        /// cannot check that they are complete. By default a request whose response may be stored asks for
        /// `Accept-Encoding: identity`, unless the app set that field; a response that is coded all the same is
        /// delivered and not stored. With true, bodies are transferred in a coding and are stored as they arrive, which
        /// saves traffic with origins that never cut them.
        ///
        /// With true, Foundation's engine also stores bodies over https whose length no field states, as is usual for pages
        /// that servers make for each request over HTTP/2: Foundation does not report that such a body was cut. The engine
        /// on SwiftNIO stores them in any case, because it checks their end.
        public var storesCodedBodies = false
        /// The links that belong to other apps; none by default.
        public var externalLinks: ExternalLinks?

        /// Makes a configuration without rules.
        public init() {}
    }
}
