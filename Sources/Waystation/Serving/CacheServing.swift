import Foundation
import FoundationNetworking
import HTTPTypes
import WaystationCaching
import WaystationRules

extension Serving {
    /// The first step with the response cache and the network, as the strategy demands.
    func cacheStep(_ strategy: CacheStrategy) -> ServingStep {
        guard let cache = engine.cache, strategy != .networkOnly || request.cachePolicy.prefersCache else {
            return withoutCache(strategy)
        }
        let key = engine.cacheKey(request, canonical)
        let ends = engine.fetches.ends(of: key)
        let resident = cache.store.resident(key)
        if let resident, !hidesCookies,
            let hit = RepeatedHit.find(for: request, by: strategy, among: resident, engine: engine)
        {
            return .answer(hit)
        }
        guard var entry = engine.cacheRequest(request, canonical) else { return withoutCache(strategy) }
        entry.hidesCookies = hidesCookies
        if let resident { return step(strategy, entry, StoredVariants(resident, for: entry), lookedUp: ends) }
        return .lookUp(
            LookUp { [entry] completion in
                cache.store.lookup(entry.key) { responses in
                    completion(step(strategy, entry, StoredVariants(responses, for: entry), lookedUp: ends))
                }
            }
        )
    }

    /// The next step for the stored responses.
    func step(
        _ strategy: CacheStrategy,
        _ entry: CacheRequest,
        _ variants: StoredVariants,
        lookedUp: UInt
    ) -> ServingStep {
        let found = CacheFinding(strategy, request, entry, variants, engine, lookedUp: lookedUp)
        switch found.decision {
        case .bypass: return networkStep
        case .unavailable: return .fail(notStored)
        case .serve(let selection, let revalidation):
            // A redirect does not end the load: it is followed like one from the network, and the delegate is asked.
            guard !RedirectPolicy.statuses.contains(selection.exchange.response.status.code),
                var answer = found.answer(selection)
            else { return .forward(Forwarding(cache: found)) }
            answer.renews = found.renewal
            if revalidation == nil, variants.packed == nil, !entry.hidesCookies {
                RepeatedHit.note(
                    answer,
                    selection,
                    for: request,
                    by: strategy,
                    among: variants.responses,
                    engine: engine
                )
            }
            return .answer(answer)
        case .fetch, .gatewayTimeout:
            return .forward(Forwarding(cache: found))
        }
    }

    private func withoutCache(_ strategy: CacheStrategy) -> ServingStep {
        let staysHere = strategy == .cacheOnly || request.cachePolicy == .returnCacheDataDontLoad
        return staysHere ? .fail(notStored) : networkStep
    }

    private var notStored: URLError {
        refusal(.notStored, CacheFinding.notStored("\(canonical.method) \(canonical.url)"))
    }
}

extension URLRequest.CachePolicy {
    /// Whether the request asks for a stored response, however old.
    fileprivate var prefersCache: Bool { self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad }
}
