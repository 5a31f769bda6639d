public import Foundation
import WaystationFields
import WaystationStorage

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension Interceptor {
    /// Explains how a request would be answered now: by which rule, from which source, and for the cache by which
    /// arithmetic.
    ///
    /// Nothing is sent, no login begins, and the app's cookies are not changed. The cache, the packs and the files are
    /// looked at as for a load, which counts as a use of the stored response. The request is judged as a session of
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

extension ClientLoads {
    /// Explains how a request would be answered now, without sending it.
    package func explanation(of request: URLRequest) async -> Interceptor.Explanation {
        let answer = await expectedAnswer(to: request)
        let cache: Interceptor.CacheExplanation? = if answer.asksCache { await explainCache(for: request) } else { nil }
        return Interceptor.Explanation(
            request.httpMethod ?? "GET",
            SecretNames.standard.url(request.url?.absoluteString ?? ""),
            interceptor.decision(for: request),
            interceptor.rules,
            answer,
            cache
        )
    }

    /// The arithmetic of the cache; nil if the request's rule does not use the cache.
    private func explainCache(for request: URLRequest) async -> Interceptor.CacheExplanation? {
        guard let hop = firstVisit(for: request, sendsUnclaimed: false)?.hop, let match = hop.match,
            let strategy = match.step.strategy, let cache = interceptor.sources.fetches?.cache,
            let presented = interceptor.sources.cacheRequest(hop.request, match.canonical)
        else { return nil }
        let responses = await cache.store.lookup(presented.key)
        let stored = StoredVariants(responses)
        return Interceptor.CacheExplanation(
            strategy,
            policy: hop.request.cachePolicy,
            for: presented,
            among: stored.heads,
            now: cache.now(),
            rules: cache.rules
        )
    }
}

extension ExpectedAnswer {
    /// Whether the answer follows from the cache, and not from a source before it.
    fileprivate var asksCache: Bool {
        switch self {
        case .answered(let source, _): source == .cache
        case .fetched, .forwarded, .failed: true
        case .unclaimed, .handedBack, .openedElsewhere, .delayed: false
        }
    }
}

extension CompiledRules.Step {
    /// The strategy of the cache at the end of the route; nil if the route does not end at the cache, or if a pack's
    /// newer files are in the cache, too.
    fileprivate var strategy: CacheStrategy? {
        switch self {
        case .cache(let strategy): strategy
        case .files(_, let otherwise), .pack(_, nil, let otherwise), .login(_, let otherwise): otherwise.strategy
        case .pack, .network, .nowhere, .carried, .block: nil
        }
    }
}
