package import Foundation
package import FoundationNetworking
import HTTPTypes
package import WaystationCaching

/// What a strategy, the request's own policy and what is stored come to: a function of values.
package enum CacheDecision: Sendable {
    /// Answer with what is stored; ask about it in the background afterwards where there is something to ask.
    case serve(StoredSelection, renewing: Revalidation?)
    /// Ask the network.
    case fetch(Fetch)
    /// Answer 504: the request wants nothing but what is stored (`only-if-cached`), and nothing is.
    case gatewayTimeout
    /// Nothing may be asked and nothing is stored.
    case unavailable
    /// Ask the network and store nothing.
    case bypass

    /// How the network is asked, and what stands in for it.
    package struct Fetch: Sendable {
        package var reason: CacheStatus.ForwardReason
        /// The question about what is stored; nil asks for everything anew.
        package var revalidation: Revalidation?
        /// Served when there is no network, whatever RFC 9111 says: the rule or its strategy wants so.
        package var fallback: StoredSelection?
        /// How long the network may take to begin a response before the fallback is served.
        package var timeout: Duration?
        /// Whether RFC 9111 and RFC 5861 say what stands in when the network fails.
        package var mayStandIn = false
        /// Whether other caches on the way are told to ask the origin.
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

    /// Decides.
    ///
    /// - Parameters:
    ///   - strategy: The rule's.
    ///   - policy: The request's, which goes before it.
    ///   - request: The request.
    ///   - stored: What is stored for its key, newest first.
    ///   - now: The present.
    ///   - rules: The choices of RFC 9111.
    /// - Returns: What to do.
    package static func make(
        _ strategy: CacheStrategy,
        policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
        for request: CacheRequest,
        among stored: [StoredExchange],
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
        _ stored: [StoredExchange],
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
    let stored: [StoredExchange]
    let now: Date
    let rules: CachingRules
    let selection: StoredSelection?

    init(_ request: CacheRequest, _ stored: [StoredExchange], _ now: Date, _ rules: CachingRules) {
        self.request = request
        self.stored = stored
        self.now = now
        self.rules = rules
        selection = StoredSelection(ignoringFreshnessFor: request.message, among: stored, now: now, rules: rules)
    }

    /// The same, unless it arrived `limit` ago or longer.
    func selection(within limit: Duration) -> StoredSelection? {
        guard !isPassingRedirect, let selection,
            max(0, now.timeIntervalSince(selection.exchange.responseTime)) < limit.inSeconds
        else {
            return nil
        }
        return selection
    }

    var revalidation: Revalidation? {
        Revalidation(alwaysFor: request.message, among: stored, now: now, rules: rules)
    }

    /// Whether it is a redirect for the moment, which nothing says to be good for longer (RFC 9110 §15.4.3).
    ///
    /// An archive keeps it for when there is no network: who was sent to a login once is not sent there for a week.
    private var isPassingRedirect: Bool {
        guard let exchange = selection?.exchange, [302, 303, 307].contains(exchange.response.status.code) else {
            return false
        }
        return !exchange.freshness(now: now, rules: rules).isFresh
    }

    var missReason: CacheStatus.ForwardReason { stored.isEmpty ? .uriMiss : .varyMiss }

    /// Of what is too old, or of nothing.
    var renewal: CacheDecision.Fetch {
        guard let selection else { return CacheDecision.Fetch(missReason) }
        return CacheDecision.Fetch(.stale, revalidation, fallback: isPassingRedirect ? selection : nil)
    }
}
