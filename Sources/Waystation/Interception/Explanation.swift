import Synchronization
package import WaystationFoundation
package import WaystationHTTP

extension Interceptor {
    /// Why a request is answered as it is: its rule, its source, and the arithmetic of the cache in words.
    ///
    /// Print it, or write it as JSON by an encoder of your choice:
    ///
    /// ```swift
    /// let explanation = await interceptor.explain(url)
    /// print(explanation)
    /// let json = try JSONEncoder().encode(explanation)
    /// ```
    ///
    /// It has no secrets of the URL: the values of tokens and passwords are replaced with `[redacted]`.
    public struct Explanation: Hashable, Sendable, Encodable, CustomStringConvertible {
        /// The request's method.
        public let method: String
        /// The request's URL, without secrets.
        public let url: String
        /// The decision of the rules: `allowed`, `blocked`, `openedElsewhere` or `untouched`.
        public let decision: String
        /// The index of the rule that takes the request; nil if no rule does.
        public let rule: Int?
        /// The rule in one line, such as `allow https://img.example/** via cache`; nil if no rule takes the request.
        public let ruleText: String?
        /// The file and the line of the rule, such as `Shop/Rules.swift:12`; nil if they are not known.
        public let location: String?
        /// The reasons why no rule takes the request; empty if one does.
        public let reasons: [String]
        /// The source of the answer: `pack`, `files`, `cache`, `network`, `foundation` and others; nil if the request fails,
        /// is opened elsewhere, or waits first.
        public let source: String?
        /// The answer that the request would get now, in a sentence.
        public let answer: String
        /// The arithmetic of the cache; nil if the cache was not asked, or was asked about newer files of a pack.
        public let cache: CacheExplanation?

        /// Several lines: the request, the rule or the reasons, the arithmetic, and the answer.
        public var description: String {
            var lines = ["\(method) \(url)"]
            if let rule, let ruleText {
                lines.append("rule \(rule)\(location.map { " (\($0))" } ?? ""): \(ruleText)")
            }
            lines += reasons.map { "not taken: \($0)" }
            lines += (cache?.sentences ?? []).map { "  \($0)" }
            // The last sentences of the arithmetic are the answer.
            if cache == nil { lines.append(answer) }
            return lines.joined(separator: "\n")
        }

        init(
            _ method: String,
            _ url: String,
            _ decision: Decision,
            _ rules: [Rule],
            _ verdict: Verdict?,
            _ cache: CacheExplanation?
        ) {
            self.method = method
            self.url = url
            answer = verdict?.inWords ?? "No rule takes the request now."
            self.cache = cache
            source = (verdict.map(\.source) ?? .foundation)?.description
            switch decision {
            case .allowed(let rule, _): (self.decision, self.rule, reasons) = ("allowed", rule, [])
            case .blocked(let rule, _): (self.decision, self.rule, reasons) = ("blocked", rule, [])
            case .openedElsewhere: (self.decision, rule, reasons) = ("openedElsewhere", nil, [])
            case .untouched(let found): (self.decision, rule, reasons) = ("untouched", nil, found)
            }
            let taken = rule.flatMap { rules.indices.contains($0) ? rules[$0] : nil }
            ruleText = taken?.inWords
            location = taken?.definition.location?.description
        }
    }
}

extension Verdict {
    /// The source of the answer that a load would get; nil if it fails, is opened elsewhere, or waits first.
    fileprivate var source: LoadEvent.Source? {
        switch self {
        case .answer(let answer): answer.source
        case .fetch, .send, .carry, .spool: .network
        case .handBack: .foundation
        case .declined, .open, .fail, .lookUp, .wait: nil
        }
    }

    /// The answer that a load would get, in a sentence; the message of an error is shown as it is.
    fileprivate var inWords: String {
        switch self {
        case .answer(let answer): answer.source.sentence(status: answer.head.statusCode)
        case .fetch(_, let fetch):
            fetch.revalidation == nil
                ? "\(fetch.reason.inWords): the request goes to the origin."
                : "\(fetch.reason.inWords): the origin is asked whether the stored response is still valid."
        case .send, .carry, .spool: "The request is sent to the origin without the cache."
        case .handBack: "Foundation's own loader sends the request to the origin."
        case .open: "The link is passed to the app's handler of external links."
        case .fail(let error): "It fails: \(error.reason)"
        case .declined, .lookUp, .wait: "The request first waits for a login or for the app's cookies."
        }
    }

    /// Whether the answer follows from the cache, and not from a source before it.
    fileprivate var asksCache: Bool {
        switch self {
        case .answer(let answer): answer.source == .cache
        case .fetch, .send, .carry, .spool, .fail: true
        case .declined, .handBack, .open, .lookUp, .wait: false
        }
    }
}

extension LookUp {
    /// The verdict in which the look-up ends, which is cancelled with the present task.
    fileprivate func result() async -> Verdict {
        let cancel = Mutex<(@Sendable () -> Void)?>(nil)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { found in
                let end = run { found.resume(returning: $0) }
                cancel.withLock { $0 = end }
                // The task may have been cancelled before.
                if Task.isCancelled { end() }
            }
        } onCancel: {
            cancel.withLock { $0 }?()
        }
    }
}

extension LoadEvent.Source {
    fileprivate func sentence(status: Int) -> String {
        switch (self, status) {
        case (.pack, _): "An installed pack answers the request with the status \(status)."
        case (.files, _): "The directory of the rule answers the request with the status \(status)."
        case (.cache, 504): "The request accepts only a stored response, and no stored one can be used: 504."
        case (.cache, _): "The cache answers the request with the status \(status), without the network."
        default: "The source \(self) answers the request with the status \(status)."
        }
    }
}

extension ClientLoads {
    /// Explains how a request would be answered now, without sending it.
    ///
    /// The files, the packs, the app's sources and the cache are looked at; no login begins.
    package func explanation(of request: URLRequest) async -> Interceptor.Explanation {
        let visit = firstVisit(for: request, sendsUnclaimed: false)
        var verdict = visit?.verdict
        while case .lookUp(let lookUp)? = verdict { verdict = await lookUp.result() }
        let asksCache = verdict?.asksCache ?? false
        let cache: Interceptor.CacheExplanation? = if asksCache { await explainCache(of: visit?.hop) } else { nil }
        return Interceptor.Explanation(
            request.httpMethod ?? "GET",
            SecretNames.standard.url(request.url?.absoluteString ?? ""),
            interceptor.decision(for: request),
            interceptor.rules,
            verdict,
            cache
        )
    }

    /// The arithmetic of the cache; nil if the request's rule does not use the cache.
    private func explainCache(of hop: Hop?) async -> Interceptor.CacheExplanation? {
        guard let hop, let match = hop.match, let strategy = match.rule.strategy,
            let cache = interceptor.sources.fetches?.cache,
            let presented = interceptor.sources.cacheRequest(hop.request, match.canonical, by: match.rule.key)
        else { return nil }
        let stored = await withCheckedContinuation { found in
            cache.lookUp(presented.key, opening: { _ in false }) { found.resume(returning: $0) }
        }
        return Interceptor.CacheExplanation(
            strategy,
            policy: hop.request.cachePolicy,
            for: presented,
            by: match.rule.key,
            among: stored.map(\.head),
            now: cache.now(),
            rules: cache.rules
        )
    }
}

extension Interceptor {
    /// The step that the cache would take for a request, and the arithmetic behind it, in words.
    ///
    /// It is a value; ``explain(_:)-(URLRequest)`` makes one.
    public struct CacheExplanation: Hashable, Sendable, Encodable, CustomStringConvertible {
        /// A stored response that fits a request, with its age and its lifetime (RFC 9111 §4.2).
        public struct Response: Hashable, Sendable, Encodable {
            /// The status code.
            public let status: Int
            /// The seconds since it arrived, or since the origin last confirmed it; negative if this machine's clock went
            /// back.
            public let secondsSinceArrival: Int
            /// The age in seconds; nil if the clock went back, so that it is unknown.
            public let age: Int?
            /// The freshness lifetime in seconds.
            public let lifetime: Int
            /// The source of the lifetime: `max-age`, `Expires`, `estimate`, `purge` or `none`.
            public let lifetimeSource: String
            /// Whether the lifetime is greater than the age.
            public let isFresh: Bool
            /// The names that the app has given to the response.
            public let tags: [String]
            /// The groups that the origin has put the response into (RFC 9875 §2).
            public let groups: [String]
        }

        /// The number of stored responses of the URL, of all variants.
        public let stored: Int
        /// The stored response that the decision is about; nil if none fits the request.
        public let response: Response?
        /// The fate of the request: `served`, `servedAndRenewed`, `fetched`, `gatewayTimeout`, `failed` or `bypassed`.
        public let outcome: String
        /// The facts, the arithmetic and the next step, a sentence each.
        public let sentences: [String]

        /// The sentences, a line each.
        public var description: String { sentences.joined(separator: "\n") }

        /// The age and the lifetime of a stored response in words.
        package static func freshness(of head: StoredHead, now: Date, _ rules: CachingRules) -> String {
            (CacheArithmetic.labels(of: head) + CacheArithmetic.freshness(of: head, now: now, rules)).joined(
                separator: " "
            )
        }

        /// Explains the decision about a request.
        ///
        /// - Parameters:
        ///   - strategy: The rule's strategy.
        ///   - policy: The request's policy, which overrides the strategy.
        ///   - request: The request.
        ///   - key: The key that the rule chooses.
        ///   - stored: The stored responses of the request's key, newest first; parts are joined here.
        ///   - now: The present time.
        ///   - rules: The choices that RFC 9111 leaves to a cache.
        package init(
            _ strategy: CacheStrategy,
            policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
            for request: CacheRequest,
            by key: CacheKey = .url,
            among stored: [StoredHead],
            now: Date,
            rules: CachingRules = CachingRules()
        ) {
            let count = stored.count
            let stored = stored + StoredParts.joined(among: stored).map(\.head)
            let decision = CacheDecision.make(
                strategy,
                policy: policy,
                for: request,
                among: stored,
                now: now,
                rules: rules
            )
            let selection =
                decision.selection(among: stored, for: request, now: now, rules)
                ?? StoredSelection(ignoringFreshnessFor: request.message, among: stored, now: now, rules: rules)
            self.stored = count
            response = selection.map { Response($0, now: now) }
            outcome = decision.outcome
            var sentences = CacheArithmetic.key(of: request, by: key, selection)
            sentences += CacheArithmetic.found(count, selection, decision.completion)
            if let selection {
                sentences += CacheArithmetic.labels(of: selection.head)
                sentences += CacheArithmetic.freshness(of: selection.head, now: now, rules)
                if policy == .useProtocolCachePolicy {
                    sentences += CacheArithmetic.limit(of: strategy, selection, now: now, rules)
                }
            }
            sentences += [policy.overriding, strategy.inWords(under: policy)].compactMap(\.self)
            sentences += CacheArithmetic.next(decision, now: now)
            self.sentences = sentences
        }
    }
}

extension Interceptor.CacheExplanation.Response {
    fileprivate init(_ selection: StoredSelection, now: Date) {
        let freshness = selection.freshness
        status = selection.head.status
        secondsSinceArrival = Int(now.timeIntervalSince(selection.head.responseTime).rounded(.down))
        age = freshness.isAgeKnown ? Int(freshness.age.components.seconds) : nil
        lifetime = Int(freshness.lifetime.components.seconds)
        lifetimeSource =
            switch freshness.basis {
            case .maxAge: "max-age"
            case .expires: "Expires"
            case .heuristic: "estimate"
            case .purge: "purge"
            case .none: "none"
            }
        isFresh = freshness.isFresh
        tags = selection.head.tags
        groups = selection.head.groups
    }
}

extension CacheDecision {
    fileprivate var outcome: String {
        switch self {
        case .serve(_, nil): "served"
        case .serve: "servedAndRenewed"
        case .fetch: "fetched"
        case .gatewayTimeout: "gatewayTimeout"
        case .unavailable: "failed"
        case .bypass: "bypassed"
        }
    }

    /// The plan by which only missing bytes are asked for; nil if the decision is another one.
    fileprivate var completion: Completion? { if case .fetch(let fetch) = self { fetch.completion } else { nil } }

    /// The stored response that the decision serves or asks about.
    fileprivate func selection(
        among stored: [StoredHead],
        for request: CacheRequest,
        now: Date,
        _ rules: CachingRules
    ) -> StoredSelection? {
        switch self {
        case .serve(let selection, _): selection
        case .fetch(let fetch):
            fetch.fallback
                ?? fetch.revalidation?.selected.map {
                    StoredSelection(of: stored[$0], at: $0, for: request.message, now: now, rules: rules)
                }
        case .gatewayTimeout, .unavailable, .bypass: nil
        }
    }
}

extension URLRequest.CachePolicy {
    /// How the request's policy overrides the strategy; nil if it does not.
    fileprivate var overriding: String? {
        switch self {
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad:
            "The request's cachePolicy accepts a stored response of any age, whatever the rule's strategy says."
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData:
            "The request's cachePolicy demands a new response, whatever the rule's strategy says."
        case .reloadRevalidatingCacheData:
            "The request's cachePolicy demands that the origin is asked, whatever the rule's strategy says."
        default: nil
        }
    }
}

extension CacheStrategy {
    /// The strategy's demand; nil if it has none beside those of its limit and of the fields, or if the request's policy
    /// overrides it.
    fileprivate func inWords(under policy: URLRequest.CachePolicy) -> String? {
        guard policy == .useProtocolCachePolicy else { return nil }
        return switch kind {
        case .standard, .cacheFirst, .staleWhileRevalidate: nil
        case .revalidate: "The strategy asks the origin each time."
        case .networkFirst(nil): "The strategy asks the origin first."
        case .networkFirst(let timeout?): "The strategy asks the origin first, and gives it \(timeout.inWords)."
        case .cacheOnly: "The strategy serves a stored response of any age, and never asks the origin."
        case .networkOnly: "The strategy does not use the cache."
        }
    }
}
