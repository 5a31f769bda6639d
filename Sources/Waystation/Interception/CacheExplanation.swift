package import Foundation
package import WaystationCaching

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

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
            /// The source of the lifetime: `max-age`, `Expires`, `estimate` or `none`.
            public let lifetimeSource: String
            /// Whether the lifetime is greater than the age.
            public let isFresh: Bool
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
            CacheArithmetic.freshness(of: head, now: now, rules).joined(separator: " ")
        }

        /// Explains the decision about a request.
        ///
        /// - Parameters:
        ///   - strategy: The rule's strategy.
        ///   - policy: The request's policy, which overrides the strategy.
        ///   - request: The request.
        ///   - stored: The stored responses of the request's key, newest first.
        ///   - now: The present time.
        ///   - rules: The choices that RFC 9111 leaves to a cache.
        package init(
            _ strategy: CacheStrategy,
            policy: URLRequest.CachePolicy = .useProtocolCachePolicy,
            for request: CacheRequest,
            among stored: [StoredHead],
            now: Date,
            rules: CachingRules = CachingRules()
        ) {
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
            self.stored = stored.count
            response = selection.map { Response($0, now: now) }
            outcome = decision.outcome
            var sentences = CacheArithmetic.found(stored.count, selection)
            if let selection {
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
            case .none: "none"
            }
        isFresh = freshness.isFresh
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
