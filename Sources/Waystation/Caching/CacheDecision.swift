import HTTPTypes
package import WaystationFoundation
package import WaystationHTTP
import WaystationStorage

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
        /// Whether the request asks other caches on the way to contact the origin.
        package var refreshesOthers = false

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
        guard strategy.obeysHTTP || request.asksForWhole else {
            return strategy == .cacheOnly || policy == .returnCacheDataDontLoad ? .unavailable : .bypass
        }
        if policy == .useProtocolCachePolicy, strategy.kind == .standard {
            return standard(request, stored, now, rules)
        }
        let chosen = Chosen(request, stored, now, rules)
        switch policy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData:
            var fetch = Fetch(.request)
            fetch.refreshesOthers = policy == .reloadIgnoringLocalAndRemoteCacheData
            return strategy == .networkOnly ? .bypass : .fetch(fetch)
        case .reloadRevalidatingCacheData:
            return strategy == .networkOnly ? .bypass : .fetch(Fetch(.request, chosen.revalidation))
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
    ///
    /// A clock that was set back far makes the time since the arrival unknown. The response then counts as too old, and
    /// not as one that has just arrived until the clock has caught up.
    func selection(within limit: Duration) -> StoredSelection? {
        guard !isPassingRedirect, let selection else { return nil }
        let sinceArrival = now.timeIntervalSince(selection.head.responseTime)
        guard sinceArrival >= -rules.clockTolerance.inSeconds, max(0, sinceArrival) < limit.inSeconds else {
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
