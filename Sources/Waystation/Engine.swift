import Foundation
import FoundationNetworking
import Logging
import Synchronization
import WaystationRules
import WaystationStorage

/// The parts of an interceptor that all code working on its loads uses.
final class Engine: Sendable {
    let rules: CompiledRules
    let cache: ResponseCache?
    let events: EventBroadcaster
    let configuration: Interceptor.Configuration
    let fetches = Fetches()
    /// The bytes that have arrived for its loads and wait for their tasks or for the cache's disk.
    let backlog: LoadBacklog
    /// The cookies of its requests; nil when Foundation chooses them.
    let cookies: CookieStore?
    /// The syncs of the storages whose changes a request must wait for.
    let storages: [CookieSync]
    private let madeNetworks = Mutex<[WeakNetwork]>([])
    private let lastMatch = Mutex<LastMatch?>(nil)

    init(_ configuration: Interceptor.Configuration) throws {
        try configuration.headerBody?.check()
        try configuration.externalLinks?.check()
        rules = try CompiledRules(
            configuration.rules,
            hasCache: configuration.cache != nil,
            packs: configuration.packs,
            hasLogin: configuration.login != nil
        )
        let cookies =
            try configuration.login?.attach(cookies: configuration.cookies, configuration) ?? configuration.cookies
        self.cookies = cookies
        storages = configuration.cookieStorages.compactMap {
            cookies?.sync(with: $0, limit: configuration.storageTimeout, schedule: configuration.schedule)
        }
        cache = configuration.cache
        backlog = LoadBacklog(storingIn: configuration.cache?.store)
        events = EventBroadcaster(logger: configuration.logger)
        var own = configuration
        own.externalLinks?.schemesOfRules = rules.schemesBesideHTTP
        self.configuration = own
        configuration.packs?.addListener { [weak events, weak cache] event in
            Overlay.drop(after: event, in: cache?.store)
            events?.emit(LoadEvent(kind: .pack(event)))
        }
        for event in configuration.packs?.condition ?? [] { events.emit(LoadEvent(kind: .pack(event))) }
        cache?.addListener { [weak events] event in events?.emit(LoadEvent(kind: .store(event))) }
        cookies?.addListener { [weak events] event in events?.emit(LoadEvent(kind: .cookies(event))) }
        configuration.login?.add(self)
        log(rules.warnings)
    }

    /// The number of warnings about rules that are logged; a whitelist of a server may cause thousands.
    private static let loggedWarnings = 20

    private func log(_ warnings: [RuleWarning]) {
        for warning in warnings.prefix(Self.loggedWarnings) { configuration.logger.warning("\(warning)") }
        let rest = warnings.count - Self.loggedWarnings
        guard rest > 0 else { return }
        configuration.logger.warning("\(rest) more rules have a warning; Interceptor.warnings names all of them")
    }

    /// The present problems, as the events that reported them.
    var condition: [LoadEvent] {
        (cache?.condition ?? []).map { LoadEvent(kind: .store($0)) }
            + (configuration.packs?.condition ?? []).map { LoadEvent(kind: .pack($0)) }
            + (cookies?.condition ?? []).map { LoadEvent(kind: .cookies($0)) }
    }

    /// The rule that takes a request; nil when none does.
    ///
    /// Foundation asks several times in a row about one request, so the last answer is kept. It depends only on URL and
    /// method, unless a rule has a predicate.
    func match(_ request: URLRequest) -> Match? {
        guard let url = request.url?.absoluteString else { return nil }
        let method = request.httpMethod ?? "GET"
        if !rules.hasPredicates, let known = lastMatch.withLock({ $0 }), known.url == url, known.method == method {
            return known.match
        }
        let match = CanonicalRequest(request).flatMap { canonical in
            rules.match(canonical, of: request).map {
                Match(canonical: canonical, step: $0.action, rule: $0.index)
            }
        }
        lastMatch.withLock { $0 = LastMatch(url: url, method: method, match: match) }
        return match
    }

    /// A request in canonical form, with the rule that takes it and its step.
    struct Match: Sendable {
        let canonical: CanonicalRequest
        let step: CompiledRules.Step
        let rule: Int
    }

    private final class LastMatch: Sendable {
        let url: String
        let method: String
        let match: Match?

        init(url: String, method: String, match: Match?) {
            self.url = url
            self.method = method
            self.match = match
        }
    }

    /// Whether a request is passed to the app's handler of external links, which is checked before all rules.
    func isExternalLink(_ request: URLRequest) -> Bool {
        configuration.externalLinks?.contain(request.url) ?? false
    }

    /// The key under which a response to a request is looked up, in the part of the store that belongs to its login.
    func cacheKey(_ request: URLRequest, _ canonical: CanonicalRequest) -> RequestKey {
        let key = CacheRequest.key(of: request, canonical: canonical.url.string)
        guard let part = configuration.login?.partition(of: request), !part.isEmpty else { return key }
        return RequestKey(method: key.method, url: key.url, partition: part + key.partition)
    }

    /// The cache's view of a request, in the part of the store that belongs to its login.
    func cacheRequest(_ request: URLRequest, _ canonical: CanonicalRequest) -> CacheRequest? {
        guard let entry = CacheRequest(request, canonical: canonical.url.string) else { return nil }
        guard let part = configuration.login?.partition(of: request), !part.isEmpty else { return entry }
        return entry.within(part)
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
                beside: configuration.httpCookieStorage,
                synchronize: { store.sync(with: $0, limit: own.storageTimeout, schedule: own.schedule) }
            )
        }
        let network = Network(
            configuration,
            cookies: cookies,
            backlog: backlog,
            makeTransport: own.makeTransport
        )
        madeNetworks.withLock { networks in
            networks.removeAll { $0.network == nil }
            networks.append(WeakNetwork(network: network))
        }
        return network
    }

    private struct WeakNetwork: Sendable {
        weak var network: Network?
    }

    /// The error for a task that only Foundation can load and that must not be left to it; nil when it may.
    ///
    /// The reason is that its rule keeps it from the network, or that the app has a transport of its own, which
    /// Foundation's loader would bypass.
    func refusal(of task: URLSessionTask, _ request: URLRequest) -> (error: URLError, rule: Int)? {
        guard let match = match(request) else { return nil }
        guard !match.step.reachesNetwork else {
            let isRefused = configuration.hasOwnTransport && !configuration.leavesTasksToFoundation
            return isRefused ? (DownloadAdvice.passesTransport(task, request), match.rule) : nil
        }
        let serving = Serving(engine: self, request: request, canonical: match.canonical)
        if case .block = match.step, case .fail(let error) = serving.verdict(.block) { return (error, match.rule) }
        return (DownloadAdvice.refusal(of: task, request), match.rule)
    }
}
