import HTTPTypes
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The response cache, and the network in the order of its strategy.
struct CacheSource: AnswerSource {
    let strategy: CacheStrategy
    /// The keys of the responses.
    var key = CacheKey.url
    /// The tags of the responses that are stored.
    var tags: [String] = []
    let name = "cache"

    func answer(to request: SourceRequest) -> SourceAnswer { SourceAnswer(verdict(on: request)) }

    private func verdict(on asked: SourceRequest) -> Verdict {
        let request = asked.request
        let strategy = asked.strategy ?? strategy
        guard let fetches = asked.environment.fetches,
            strategy.kind != .networkOnly || request.cachePolicy.prefersCache
        else { return withoutCache(asked) }
        let cache = fetches.cache
        let rule = self.key
        let key = asked.environment.cacheKey(request, asked.canonical, by: rule)
        let ends = fetches.ends(of: key)
        let resident = cache.store.resident(key).map(cache.usable)
        if let resident, let hit = repeatedHit(of: request, by: strategy, among: resident, in: cache) { return hit }
        guard CacheRequest.mayBeMade(of: request, canonical: asked.canonical.url, by: rule) else {
            return withoutCache(asked)
        }
        // It is made only when a repeated hit has not answered.
        let presented: @Sendable () -> CacheRequest? = {
            asked.environment.cacheRequest(request, asked.canonical, by: rule, under: key)
        }
        let verdict: @Sendable ([StoredResponse]) -> Verdict = { responses in
            guard let presented = presented() else { return withoutCache(asked) }
            return asked.verdict(strategy, presented, StoredVariants(responses), tags, in: cache, lookedUp: ends)
        }
        // Only if the responses of the key itself are no answer, those are looked for that have other queries.
        let inMemory: @Sendable ([StoredResponse], Bool) -> Verdict? = { responses, mayRead in
            let first = verdict(responses)
            guard first.needsOthers else { return first }
            return cache.searchedInMemory(key, mayRead: mayRead).map {
                $0.isEmpty ? first : verdict((responses + $0).newestFirst)
            }
        }
        if let resident, let known = inMemory(resident, false) { return known }
        return .lookUp(
            LookUp(
                inMemory: { mayRead in
                    guard let responses = cache.store.lookUpInMemory(key, mayRead: mayRead).map(cache.usable) else {
                        return nil
                    }
                    return repeatedHit(of: request, by: strategy, among: responses, in: cache)
                        ?? inMemory(responses, mayRead)
                },
                run: { completion in
                    let presented = presented()
                    let mayAnswer: @Sendable (StoredHead) -> Bool = { presented?.mayBeAnswered(by: $0) ?? false }
                    cache.store.lookup(key, opening: mayAnswer) { responses in
                        let responses = cache.usable(responses)
                        let first =
                            repeatedHit(of: request, by: strategy, among: responses, in: cache) ?? verdict(responses)
                        guard first.needsOthers else { return completion(first) }
                        cache.searched(key, opening: mayAnswer) {
                            completion($0.isEmpty ? first : verdict((responses + $0).newestFirst))
                        }
                    }
                    return {}
                }
            )
        )
    }

    /// The last hit of the stored response, if its request was like this one and it is still the answer.
    private func repeatedHit(
        of request: URLRequest,
        by strategy: CacheStrategy,
        among responses: [StoredResponse],
        in cache: CacheAccess
    ) -> Verdict? {
        RepeatedHit.find(for: request, by: strategy, among: responses, in: cache).map(Verdict.answer)
    }

    private func withoutCache(_ asked: SourceRequest) -> Verdict {
        let staysHere =
            (asked.strategy ?? strategy).kind == .cacheOnly || asked.request.cachePolicy == .returnCacheDataDontLoad
        return staysHere ? .fail(asked.notStored) : asked.network
    }
}

extension Verdict {
    /// Whether a stored response with another query could still answer.
    fileprivate var needsOthers: Bool {
        switch self {
        case .fetch(_, let fetch): fetch.reason != .request
        case .answer(let answer): answer.isMadeHere
        case .fail: true
        case .declined, .send, .carry, .handBack, .spool, .open, .lookUp, .wait: false
        }
    }
}

extension SourceRequest {
    /// The verdict about the stored responses.
    func verdict(
        _ strategy: CacheStrategy,
        _ presented: CacheRequest,
        _ variants: StoredVariants,
        _ tags: [String] = [],
        in cache: CacheAccess,
        lookedUp: UInt
    ) -> Verdict {
        let found = CacheFinding(strategy, request, presented, variants, cache, tags: tags, lookedUp: lookedUp)
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
                    answer.head,
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

    fileprivate var notStored: URLError {
        refusal(.notStored, CacheFinding.notStored("\(canonical.method) \(canonical.url.string.shownURL)"))
    }
}

extension URLRequest.CachePolicy {
    /// Whether the request asks for a stored response, however old.
    fileprivate var prefersCache: Bool { self == .returnCacheDataElseLoad || self == .returnCacheDataDontLoad }
}

/// The result of a cache look-up for a request, and the decision about it.
struct CacheFinding: Sendable {
    let strategy: CacheStrategy
    let request: URLRequest
    let presented: CacheRequest
    let variants: StoredVariants
    let decision: CacheDecision
    /// The tags of the responses that are stored.
    let tags: [String]
    /// The number of fetches of the key that had ended before the look-up.
    let lookedUp: UInt

    init(
        _ strategy: CacheStrategy,
        _ request: URLRequest,
        _ presented: CacheRequest,
        _ variants: StoredVariants,
        _ cache: CacheAccess,
        tags: [String] = [],
        lookedUp: UInt
    ) {
        self.lookedUp = lookedUp
        self.tags = tags
        self.strategy = strategy
        self.request = request
        self.presented = presented
        self.variants = strategy.checksDigests ? variants.checked(in: cache.store) : variants
        decision = CacheDecision.make(
            strategy,
            policy: request.cachePolicy,
            for: presented,
            among: variants.heads,
            now: cache.now(),
            rules: cache.rules
        )
    }

    /// The answer from a stored response.
    ///
    /// - Parameters:
    ///   - selection: The stored response.
    ///   - outcome: How its `Cache-Status` says that the request was handled.
    /// - Returns: The answer; nil if the request has no URL.
    func answer(_ selection: StoredSelection, _ outcome: CacheStatus.Outcome = .hit) -> Answer? {
        variants.answer(
            selection,
            to: request,
            CacheStatus(outcome, timeToLive: timeToLive(selection), key: shownKey(selection.head))
        )
    }

    /// The key of a stored response, if it is another one than the URL of the request.
    ///
    /// The text of an app's own is not shown: it may be made of what identifies a user.
    private func shownKey(_ head: StoredHead) -> String? {
        guard let target = presented.message.path, !head.key.url.hasSuffix(target), !head.key.additions.contains("key"),
            variants.packed == nil
        else { return nil }
        return head.key.url
    }

    /// How much longer the response will be served: by the strategy's limit if it has one, otherwise by the header
    /// fields.
    private func timeToLive(_ selection: StoredSelection) -> Duration? {
        if strategy.obeysHTTP { return selection.freshness.timeToLive }
        return strategy.limit.map { $0 - selection.freshness.age }
    }

    /// The fetch that renews a response that was already served.
    var renewal: FetchPlan? {
        guard case .serve(_, let revalidation?) = decision else { return nil }
        return FetchPlan(
            request: request.forWhole,
            presented: presented.forWhole,
            variants: variants,
            strategy: strategy,
            tags: tags,
            revalidation: revalidation,
            lookedUp: lookedUp
        )
    }

    /// The 504 for a request that accepts only a stored response (RFC 9111 §5.2.1.7).
    var gatewayTimeout: Answer? {
        let text = "No stored response may answer this request, and it accepts no other (only-if-cached).\n"
        let body = Data(text.utf8)
        guard let url = request.url else { return nil }
        let fields = ["Content-Type": "text/plain; charset=utf-8", "Content-Length": "\(body.count)"]
        return Answer(
            head: ResponseHead(url: url, statusCode: 504, fields: fields),
            body: .data(presented.message.method == .head ? Data() : body),
            source: .cache,
            isMadeHere: true
        )
    }

    /// The error of a load that got no response, with the cache's strategy and the reason why it had no answer.
    func explaining(_ error: any Error) -> any Error {
        // A log-out, for instance, has an explanation of its own.
        guard let failure = error as? URLError, !(failure.userInfo[NSUnderlyingErrorKey] is WaystationError) else {
            return error
        }
        let cause = failure.localizedDescription
        let reason =
            variants.heads.isEmpty
            ? "the cache was asked too, by .cache(.\(strategy)), and holds nothing for"
            : "the cache was asked too, but by .cache(.\(strategy)) its stored response may not be used for"
        let stop = cause.hasSuffix(".") ? cause.dropLast() : cause[...]
        let message = "\(stop); \(reason) \(request.httpMethod ?? "GET") \(presented.key.url.shownURL)"
        return URLError(
            failure.code,
            failing: failure.userInfo[NSURLErrorFailingURLErrorKey] as? URL,
            message,
            underlying: WaystationError(.notStored, message, cause: failure)
        )
    }

    static func notStored(_ what: String) -> String {
        "\(what) is not in the cache, and no other source may answer it"
    }
}

extension CacheDecision.Fetch {
    /// The stored response that answers when the network cannot be reached, if the strategy or the RFCs allow it.
    func standIn(now: Date) -> StoredSelection? {
        fallback ?? (mayStandIn ? revalidation?.standIn(for: .unreachable, now: now) : nil)
    }
}

extension FetchPlan {
    /// Plans what the cache has decided to ask.
    ///
    /// - Parameters:
    ///   - finding: The stored responses, and the request.
    ///   - fetch: The decision.
    ///   - isSecondAttempt: Whether a first trip failed.
    init(_ finding: CacheFinding, _ fetch: CacheDecision.Fetch, isSecondAttempt: Bool) {
        self.init(
            request: finding.request,
            presented: finding.presented,
            variants: finding.variants,
            strategy: finding.strategy,
            tags: finding.tags,
            revalidation: fetch.revalidation,
            reason: fetch.reason,
            mayStandIn: fetch.mayStandIn,
            lookedUp: finding.lookedUp,
            completion: fetch.completion,
            isSecondAttempt: isSecondAttempt
        )
        guard let directive = fetch.directive, request.value(forHTTPHeaderField: "Cache-Control") == nil else { return }
        request.setValue(directive, forHTTPHeaderField: "Cache-Control")
        if directive == "no-cache" { request.setValue(directive, forHTTPHeaderField: "Pragma") }
    }
}
