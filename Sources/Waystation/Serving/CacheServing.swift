import Foundation
import HTTPTypes
import WaystationCaching
import WaystationFields
import WaystationRules
import WaystationStorage
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Serving {
    /// The verdict of the response cache, as the strategy demands.
    func cache(_ strategy: CacheStrategy) -> Verdict {
        guard let fetches = sources.fetches, strategy != .networkOnly || request.cachePolicy.prefersCache else {
            return withoutCache(strategy)
        }
        let cache = fetches.cache
        let key = sources.cacheKey(request, canonical)
        let ends = fetches.ends(of: key)
        let resident = cache.store.resident(key).map(cache.usable)
        if let resident, let hit = repeatedHit(strategy, among: resident, in: cache) { return hit }
        guard let presented = sources.cacheRequest(request, canonical) else { return withoutCache(strategy) }
        let verdict: @Sendable ([StoredResponse]) -> Verdict = { responses in
            self.verdict(strategy, presented, StoredVariants(responses), in: cache, lookedUp: ends)
        }
        if let resident { return verdict(resident) }
        let readVerdict: @Sendable ([StoredResponse]) -> Verdict = { responses in
            let responses = cache.usable(responses)
            return repeatedHit(strategy, among: responses, in: cache) ?? verdict(responses)
        }
        return .lookUp(
            LookUp(
                inMemory: { cache.store.lookUpInMemory(key, mayRead: $0).map(readVerdict) },
                run: { [presented] completion in
                    cache.store.lookup(key, opening: presented.mayBeAnswered) { completion(readVerdict($0)) }
                }
            )
        )
    }

    /// The last hit of the stored response, if its request was like this one and it is still the answer.
    private func repeatedHit(
        _ strategy: CacheStrategy,
        among responses: [StoredResponse],
        in cache: CacheAccess
    ) -> Verdict? {
        RepeatedHit.find(for: request, by: strategy, among: responses, in: cache).map(Verdict.answer)
    }

    /// The verdict about the stored responses.
    func verdict(
        _ strategy: CacheStrategy,
        _ presented: CacheRequest,
        _ variants: StoredVariants,
        in cache: CacheAccess,
        lookedUp: UInt
    ) -> Verdict {
        let found = CacheFinding(strategy, request, presented, variants, cache, lookedUp: lookedUp)
        switch found.decision {
        case .bypass: return network
        case .unavailable: return .fail(notStored)
        case .fetch(let fetch): return .fetch(found, fetch)
        case .gatewayTimeout:
            return found.gatewayTimeout.map(Verdict.answer)
                ?? .fail(.invalidHead(of: request.url))
        case .serve(let selection, let revalidation):
            guard var answer = found.answer(selection) else { return .fetch(found, CacheDecision.Fetch(.miss)) }
            answer.renews = found.renewal
            answer.renews?.ticket = ticket
            if revalidation == nil, variants.packed == nil {
                RepeatedHit.note(
                    answer.response,
                    selection,
                    for: request,
                    by: strategy,
                    among: variants.responses,
                    in: cache
                )
            }
            return .answer(answer)
        }
    }

    private func withoutCache(_ strategy: CacheStrategy) -> Verdict {
        let staysHere = strategy == .cacheOnly || request.cachePolicy == .returnCacheDataDontLoad
        return staysHere ? .fail(notStored) : network
    }

    private var notStored: URLError {
        refusal(.notStored, CacheFinding.notStored("\(canonical.method) \(canonical.url.string.shownURL)"))
    }
}

extension URLRequest.CachePolicy {
    /// Whether the request asks for a stored response, however old.
    fileprivate var prefersCache: Bool { self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad }
}
