package import Foundation
package import HTTPTypes
package import WaystationFoundation
package import WaystationHTTP
import WaystationStorage

/// How a rule uses the response cache and the network.
///
/// The names are those of Workbox and of the RFCs.
///
/// `URLRequest.cachePolicy` overrides every strategy, unless the policy is `.useProtocolCachePolicy`.
///
/// A limit or a time-out below zero counts as zero, and one above 100,000 days as 100,000 days.
public struct CacheStrategy: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case standard
        case revalidate(ValidationMethod)
        case cacheFirst(Duration)
        case networkFirst(Duration?)
        case staleWhileRevalidate(Duration)
        case cacheOnly
        case networkOnly
    }

    /// How an origin is asked whether a stored response has changed.
    public enum ValidationMethod: Hashable, Sendable {
        /// One conditional GET, whose response contains the new representation if there is one.
        case get
        /// A HEAD, then a GET if the validators have changed: for servers that ignore conditions.
        case head
    }

    package let kind: Kind
    /// Whether bodies are compared with the digests that their responses state.
    package private(set) var checksDigests = false

    /// A private HTTP cache: RFC 9111 with heuristic freshness and `Vary`, `stale-while-revalidate` and
    /// `stale-if-error` (RFC 5861), `immutable` (RFC 8246).
    ///
    /// A stale response is served when there is no network, unless the response forbids that. Requests with a range or
    /// preconditions of their own are answered from stored responses that are fresh.
    public static let standard = Self(kind: .standard)

    /// Always the newest: each load asks the origin with the validators of the stored response, and serves the stored
    /// response when it has not changed.
    ///
    /// It also serves the stored response, however old, when there is no network.
    ///
    /// - Parameter method: How the origin is asked; one conditional GET by default.
    /// - Returns: The strategy.
    public static func revalidate(by method: ValidationMethod = .get) -> Self { Self(kind: .revalidate(method)) }

    /// Always the newest, by one conditional GET.
    public static let revalidate = Self.revalidate()

    /// Serves a stored response until it is `limit` old, whatever its header fields say; then loads and stores it
    /// again.
    ///
    /// A response that is older than `limit` is never served, even when there is no network. If the clock was set
    /// back, so that the response arrived in the future by more than the rules' `clockTolerance`, it counts as older. A
    /// response that was purged softly is validated before its next use, and serves when there is no network.
    public static func cacheFirst(for limit: Duration) -> Self { Self(kind: .cacheFirst(limit.bounded)) }

    /// Loads and stores, but serves a stored response, however old, when the network fails or has not begun to answer
    /// within `timeout`.
    ///
    /// A late answer is still stored.
    ///
    /// - Parameter timeout: How long the network may take to begin its answer. With nil, the default, the load waits as
    ///   long as the request's own time-out allows: the cache is used only when there is no network.
    /// - Returns: The strategy.
    public static func networkFirst(timeout: Duration? = nil) -> Self {
        Self(kind: .networkFirst(timeout?.bounded))
    }

    /// Serves a stored response at once and renews it in the background, until it is `limit` old; then loads and stores
    /// it again.
    public static func staleWhileRevalidate(upTo limit: Duration) -> Self {
        Self(kind: .staleWhileRevalidate(limit.bounded))
    }

    /// Serves stored responses, however old, and never asks the network: a load without a stored response fails with
    /// `URLError.resourceUnavailable`.
    public static let cacheOnly = Self(kind: .cacheOnly)

    /// Loads from the network; neither serves nor stores responses.
    public static let networkOnly = Self(kind: .networkOnly)

    /// The same strategy, which compares the bodies that it loads with the digests that their responses state, in the fields
    /// `Repr-Digest` and `Content-Digest` (RFC 9530).
    ///
    /// ```swift
    /// $0.rules = [.allow("https://files.example/**", via: .cache(.standard.checkingDigests()))]
    /// ```
    ///
    /// A body whose SHA-256 or SHA-512 is another one is not stored, and its load fails at its end with
    /// `URLError.cannotDecodeRawData` and the code `digestMismatch`: parts of it may have been delivered before. The requests
    /// ask for a digest by `Want-Repr-Digest`. A response that states none is used as without this.
    ///
    /// - Returns: The strategy. With ``networkOnly`` it checks nothing.
    public func checkingDigests() -> Self {
        var strategy = self
        strategy.checksDigests = true
        return strategy
    }

    /// The strategy as it is written in code.
    public var description: String { checksDigests ? "\(name).checkingDigests()" : name }

    private var name: String {
        switch kind {
        case .standard: "standard"
        case .revalidate(.get): "revalidate"
        case .revalidate(let method): "revalidate(by: .\(method))"
        case .cacheFirst(let limit): "cacheFirst(for: \(limit))"
        case .networkFirst(nil): "networkFirst"
        case .networkFirst(let timeout?): "networkFirst(timeout: \(timeout))"
        case .staleWhileRevalidate(let limit): "staleWhileRevalidate(upTo: \(limit))"
        case .cacheOnly: "cacheOnly"
        case .networkOnly: "networkOnly"
        }
    }
}

extension CacheStrategy {
    /// Whether header fields of request and response decide about reuse.
    ///
    /// Otherwise the strategy keeps an archive with time limits of its own.
    package var obeysHTTP: Bool {
        switch kind {
        case .standard, .revalidate: true
        case .cacheFirst, .networkFirst, .staleWhileRevalidate, .cacheOnly, .networkOnly: false
        }
    }

    /// The age up to which a response may be served; nil when the strategy has no limit of its own.
    package var limit: Duration? {
        switch kind {
        case .cacheFirst(let limit), .staleWhileRevalidate(let limit): limit
        case .standard, .revalidate, .networkFirst, .cacheOnly, .networkOnly: nil
        }
    }
}

extension Duration {
    /// A number of minutes.
    public static func minutes(_ count: Int) -> Duration { times(60, count) }
    /// A number of hours.
    public static func hours(_ count: Int) -> Duration { times(3_600, count) }
    /// A number of days of 24 hours.
    public static func days(_ count: Int) -> Duration { times(86_400, count) }

    /// A number of seconds, several times; beyond the longest time that whole seconds can count, that time.
    private static func times(_ seconds: Int, _ count: Int) -> Duration {
        let (product, isTooLong) = count.multipliedReportingOverflow(by: seconds)
        return .seconds(isTooLong ? (count < 0 ? Int.min : Int.max) : product)
    }

    /// A time with which dates and whole seconds can be calculated: from zero to 100,000 days.
    package var bounded: Duration { min(max(.zero, self), .days(100_000)) }
}

extension CacheStrategy {
    /// Whether and how a response is stored.
    ///
    /// An archive keeps whole representations, 410 responses and redirects, whatever their age. `no-store` is honoured
    /// in every case, because it protects privacy. `Vary: *` matches no later request (RFC 9111 §4.1).
    ///
    /// - Parameters:
    ///   - head: The head as Foundation delivered it.
    ///   - request: The request, without the conditions that the cache added.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the head arrived.
    ///   - rules: The choices that RFC 9111 leaves to a cache.
    /// - Returns: The head to store, or the reason to store nothing.
    package func storing(
        _ head: ResponseHead,
        to request: HTTPRequest,
        requestTime: Date,
        responseTime: Date,
        rules: CachingRules
    ) -> StoringDecision {
        let response = HTTPResponse(storing: head)
        let decision = StoringDecision(
            of: response,
            to: request,
            requestTime: requestTime,
            responseTime: responseTime,
            rules: rules
        )
        // A response that sets a cookie is probably made for the user who gets the cookie.
        if rules.servesSeveralUsers, !decision.isPrivate, head.value(forHTTPHeaderField: "Set-Cookie") != nil,
            !CacheControl(response.headerFields).isPublic
        {
            return .refuse(.personal)
        }
        guard !obeysHTTP else { return decision }
        guard Self.archivedStatuses.contains(head.statusCode) else { return .refuse(.notMarkedStorable) }
        guard case .refuse(.notMarkedStorable) = decision else { return decision }
        let vary = VaryKey(response.headerFields, request: request.headerFields)
        guard !vary.matchesNothing else { return .refuse(.variesOnEverything) }
        return .store(
            StoredHead(
                key: RequestKey(method: request.method.rawValue, url: request.url?.absoluteString ?? ""),
                status: head.statusCode,
                headerFields: response.headerFields,
                vary: vary,
                requestTime: requestTime,
                responseTime: responseTime
            )
        )
    }

    private static let archivedStatuses: Set<Int> = [200, 203, 204, 206, 301, 302, 303, 307, 308, 410]
}

extension StoringDecision {
    /// Whether the response was refused to protect privacy.
    package var isPrivate: Bool {
        switch self {
        case .refuse(.requestNoStore), .refuse(.responseNoStore), .refuse(.personal): true
        case .refuse, .store: false
        }
    }
}

/// The decision from a strategy, the request's own policy and the stored responses.
///
/// It is a pure function of values.
package enum CacheDecision: Sendable {
    /// Answer with the stored response; then revalidate it in the background if `renewing` is not nil.
    case serve(StoredSelection, renewing: Revalidation?)
    /// Ask the network.
    case fetch(Fetch)
    /// Answer 504: the request accepts only a stored response (`only-if-cached`), and none is stored.
    case gatewayTimeout
    /// The network must not be asked and no usable response is stored.
    case unavailable
    /// Ask the network and store nothing.
    case bypass

    /// How the network is asked, and which stored response can replace its answer.
    package struct Fetch: Sendable {
        package var reason: CacheStatus.ForwardReason
        /// The conditional request about the stored response; nil loads the whole response again.
        package var revalidation: Revalidation?
        /// The stored response that is served when there is no network, whatever RFC 9111 says, because the strategy
        /// demands it.
        package var fallback: StoredSelection?
        /// How long the network may take to begin a response before the fallback is served.
        package var timeout: Duration?
        /// Whether a stored response may be served when the network fails, as RFC 9111 and RFC 5861 allow it.
        package var mayStandIn = false
        /// The directive that asks other caches on the way to contact the origin, such as `no-cache`.
        package var directive: String?
        /// The plan by which only the bytes are asked for that are not stored.
        package var completion: Completion?

        package init(
            _ reason: CacheStatus.ForwardReason,
            _ revalidation: Revalidation? = nil,
            fallback: StoredSelection? = nil,
            timeout: Duration? = nil
        ) {
            self.reason = reason
            self.revalidation = revalidation
            self.fallback = fallback
            self.timeout = timeout
        }
    }

    /// Decides how a request is answered.
    ///
    /// - Parameters:
    ///   - strategy: The rule's strategy.
    ///   - policy: The request's policy, which overrides the strategy.
    ///   - request: The request.
    ///   - stored: The stored responses of the request's key, newest first.
    ///   - now: The present time.
    ///   - rules: The choices that RFC 9111 leaves to a cache.
    /// - Returns: The decision.
    package static func make(
        _ strategy: CacheStrategy,
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        for request: CacheRequest,
        among stored: [StoredHead],
        now: Date,
        rules: CachingRules = CachingRules()
    ) -> CacheDecision {
        let decision = decide(strategy, policy, request, stored, now, rules)
        switch decision {
        // Whole responses come first: they are asked about as a whole.
        case .fetch(var fetch) where fetch.reason != .request && fetch.revalidation == nil && fetch.fallback == nil:
            guard let completion = Completion(for: request.message, among: stored) else { return decision }
            fetch.completion = completion
            if strategy.uses(completion, withoutNetworkAt: now, rules) {
                fetch.fallback = completion.beginning(now: now, rules: rules)
            }
            return .fetch(fetch)
        case .unavailable:
            let completion = Completion(for: request.message, among: stored)
            guard let beginning = completion?.beginning(now: now, rules: rules) else { return decision }
            return .serve(beginning, renewing: nil)
        case .fetch, .serve, .gatewayTimeout, .bypass: return decision
        }
    }

    private static func decide(
        _ strategy: CacheStrategy,
        _ policy: URLRequest.CachePolicy,
        _ request: CacheRequest,
        _ stored: [StoredHead],
        _ now: Date,
        _ rules: CachingRules
    ) -> CacheDecision {
        guard strategy.obeysHTTP || request.isUnconditional else {
            return strategy.kind == .cacheOnly || policy == .returnCacheDataDontLoad ? .unavailable : .bypass
        }
        if policy == .useProtocolCachePolicy, strategy.kind == .standard {
            return standard(request, stored, now, rules)
        }
        let chosen = Chosen(request, stored, now, rules)
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData:
            var fetch = Fetch(.request)
            if policy == .reloadIgnoringLocalAndRemoteCacheData { fetch.directive = "no-cache" }
            return strategy.kind == .networkOnly ? .bypass : .fetch(fetch)
        case .reloadRevalidatingCacheData:
            if strategy.kind == .networkOnly { return .bypass }
            // RFC 8246 §2: such a response need not be confirmed by a reload.
            if strategy.kind == .standard,
                case .fresh(let selection) = ReuseDecision(for: request.message, among: stored, now: now, rules: rules),
                selection.head.isImmutable(at: selection.freshness)
            {
                return .serve(selection, renewing: nil)
            }
            var fetch = Fetch(.request, chosen.revalidation)
            fetch.directive = "max-age=0"
            return .fetch(fetch)
        case .returnCacheDataElseLoad:
            return chosen.selection.map { .serve($0, renewing: nil) } ?? .fetch(Fetch(chosen.missReason))
        case .returnCacheDataDontLoad:
            return chosen.selection.map { .serve($0, renewing: nil) } ?? .unavailable
        case .useProtocolCachePolicy: break
        @unknown default: break
        }
        switch strategy.kind {
        case .standard: return standard(request, stored, now, rules)
        case .revalidate:
            guard let selection = chosen.selection else { return standard(request, stored, now, rules) }
            return .fetch(Fetch(.request, chosen.revalidation, fallback: selection))
        case .networkOnly: return .bypass
        case .cacheOnly: return chosen.selection.map { .serve($0, renewing: nil) } ?? .unavailable
        case .networkFirst(let timeout):
            guard let selection = chosen.selection else { return .fetch(Fetch(chosen.missReason)) }
            return .fetch(Fetch(.request, chosen.revalidation, fallback: selection, timeout: timeout))
        case .cacheFirst(let limit):
            guard let selection = chosen.selection(within: limit) else { return .fetch(chosen.renewal) }
            // A purged response is stale at once, and may still be used when there is no network.
            guard selection.head.staleFrom == nil else {
                return .fetch(Fetch(.stale, chosen.revalidation, fallback: selection))
            }
            return .serve(selection, renewing: nil)
        case .staleWhileRevalidate(let limit):
            guard let selection = chosen.selection(within: limit) else { return .fetch(chosen.renewal) }
            return .serve(selection, renewing: chosen.revalidation)
        }
    }

    private static func standard(
        _ request: CacheRequest,
        _ stored: [StoredHead],
        _ now: Date,
        _ rules: CachingRules
    ) -> CacheDecision {
        switch ReuseDecision(for: request.message, among: stored, now: now, rules: rules) {
        case .fresh(let selection): return .serve(selection, renewing: nil)
        case .stale(let selection, _, let revalidation): return .serve(selection, renewing: revalidation)
        case .revalidate(let revalidation):
            var fetch = Fetch(revalidation.reason, revalidation)
            fetch.mayStandIn = true
            return .fetch(fetch)
        case .forward(let reason): return .fetch(Fetch(reason))
        case .gatewayTimeout: return .gatewayTimeout
        }
    }
}

extension StoredHead {
    /// Whether the response arrived less than `limit` before a time.
    ///
    /// A clock that was set back far makes the time since the arrival unknown. The response then counts as too old, and
    /// not as one that has just arrived until the clock has caught up.
    fileprivate func hasArrived(within limit: Duration, before now: Date, _ rules: CachingRules) -> Bool {
        let sinceArrival = now.timeIntervalSince(responseTime)
        return sinceArrival >= -rules.clockTolerance.inSeconds && max(0, sinceArrival) < limit.inSeconds
    }
}

extension CacheStrategy {
    /// Whether stored parts may answer when there is no network, although other parts of the representation are missing.
    fileprivate func uses(_ parts: Completion, withoutNetworkAt now: Date, _ rules: CachingRules) -> Bool {
        switch kind {
        case .standard: parts.isFresh(now: now, rules: rules)
        case .cacheFirst(let limit), .staleWhileRevalidate(let limit):
            parts.head.hasArrived(within: limit, before: now, rules)
        case .revalidate, .networkFirst, .cacheOnly: true
        case .networkOnly: false
        }
    }
}

/// The stored response that answers a request, whatever its age.
private struct Chosen {
    let request: CacheRequest
    let stored: [StoredHead]
    let now: Date
    let rules: CachingRules
    let selection: StoredSelection?

    init(_ request: CacheRequest, _ stored: [StoredHead], _ now: Date, _ rules: CachingRules) {
        self.request = request
        self.stored = stored
        self.now = now
        self.rules = rules
        selection = StoredSelection(ignoringFreshnessFor: request.message, among: stored, now: now, rules: rules)
    }

    /// The selection, unless it arrived `limit` ago or longer.
    func selection(within limit: Duration) -> StoredSelection? {
        guard !isPassingRedirect, let selection, selection.head.hasArrived(within: limit, before: now, rules) else {
            return nil
        }
        return selection
    }

    var revalidation: Revalidation? {
        Revalidation(alwaysFor: request.message, among: stored, now: now, rules: rules)
    }

    /// Whether the selection is a temporary redirect without explicit freshness (RFC 9110 §15.4.3).
    ///
    /// An archive keeps such a redirect only for times without network: a client that was once redirected to a login
    /// must not be sent there for a week.
    private var isPassingRedirect: Bool {
        guard let head = selection?.head, [302, 303, 307].contains(head.status) else { return false }
        return !head.freshness(now: now, rules: rules).isFresh
    }

    var missReason: CacheStatus.ForwardReason { stored.isEmpty ? .uriMiss : .varyMiss }

    /// The fetch that replaces a response that is too old, or that loads one when nothing is stored.
    var renewal: CacheDecision.Fetch {
        guard let selection else { return CacheDecision.Fetch(missReason) }
        return CacheDecision.Fetch(.stale, revalidation, fallback: isPassingRedirect ? selection : nil)
    }
}

/// The parts of a store with responses that are stored over packs: each version of a module has its own part.
enum Overlay {
    /// The prefix of the names of all these parts.
    static let prefix = "pack/"

    /// Whether a part of the store belongs to a pack.
    static func contains(_ partition: String) -> Bool {
        // Most loads have no login and no pack, so the name is empty; a search in it takes longer than this comparison.
        !partition.isEmpty && partition.contains(prefix)
    }

    /// The part for the version of a module that is in a folder.
    static func partition(of module: String, in folder: String) -> String { prefix(of: module) + folder + "/" }

    private static func prefix(of module: String) -> String { prefix + module + "/" }

    /// Drops the responses that are stored over a module's packs.
    static func drop(_ module: String, in store: ResponseStore?) {
        store?.invalidate(.partitions(prefix: prefix(of: module)))
    }
}
