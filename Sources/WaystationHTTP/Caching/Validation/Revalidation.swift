public import Foundation
public import HTTPTypes

/// A request that asks the origin about stored responses (RFC 9111 §4.3.1), and the stored response that may be used
/// when it fails.
public struct Revalidation: Sendable {
    /// How the revalidation failed.
    public enum Failure: Hashable, Sendable {
        /// No response arrived: no network, no server, or the connection broke before the response's head was complete.
        case unreachable
        /// A response arrived, with this status code.
        case status(Int)
    }

    /// The request to send: conditional if a stored response has a validator.
    public let request: HTTPRequest
    /// The reason for the request, for ``CacheStatus``.
    public let reason: CacheStatus.ForwardReason
    /// Whether ``request`` carries validators of stored responses.
    public let isConditional: Bool

    /// The client's request.
    let original: HTTPRequest
    let stored: [StoredHead]
    /// The index of the response that would be used, or nil when none matches the request.
    package let selected: Int?
    /// How many stored responses have their validators in the request; `ETag` and `Last-Modified` of one response count
    /// once.
    let validatorCount: Int
    let rules: CachingRules

    /// Whether no stored response matches the request, so that the request asks only about other variants.
    var isVaryMiss: Bool { selected == nil }

    init(
        of selected: Int?,
        among stored: [StoredHead],
        for original: HTTPRequest,
        reason: CacheStatus.ForwardReason,
        _ rules: CachingRules
    ) {
        self.original = original
        self.stored = stored
        self.selected = selected
        self.reason = reason
        self.rules = rules
        var request = original
        let own = original.headerFields[.ifNoneMatch].map { EntityTagList(asItCame: $0) }
        if case .some(.none) = own {
            // The client's condition cannot be read, so it cannot be combined with the cache's.
            validatorCount = 0
        } else if case .any?? = own {
            // `*` asks whether the resource exists at all; only the origin can answer that.
            validatorCount = 0
        } else {
            let tags = Self.tags(of: selected, among: stored, for: original, limit: max(1, rules.maximumCombinedTags))
            let modified = selected.flatMap { stored[$0].mayBeValidated ? stored[$0].facts.lastModifiedText : nil }
            if !tags.isEmpty {
                // §4.3.1 MUST, §4.3.2 MAY: the client's tags and the cache's.
                var union: [EntityTag] = if case .tags(let list)?? = own { list } else { [] }
                for tag in tags where !union.contains(tag) { union.append(tag) }
                guard union.count == 1 || union.allSatisfy(\.isValid) else {
                    // The client's own condition is no list of tags, so it cannot be combined with the cache's.
                    validatorCount = 0
                    isConditional = false
                    self.request = original
                    return
                }
                request.headerFields[.ifNoneMatch] = union.map(\.fieldValue).joined(separator: ", ")
                // §4.3.1 SHOULD; for one response only. The client's own date is evaluated against the stored response.
                request.headerFields[.ifModifiedSince] = tags.count == 1 ? modified : nil
            } else if let modified, own == nil {
                request.headerFields[.ifModifiedSince] = modified
            }
            validatorCount = tags.isEmpty ? (modified != nil && own == nil ? 1 : 0) : tags.count
        }
        isConditional = validatorCount > 0
        self.request = isConditional ? request : original
    }

    /// The tags to send: of all matching responses if the selected one has a tag, or of all variants if none matches.
    private static func tags(
        of selected: Int?,
        among stored: [StoredHead],
        for request: HTTPRequest,
        limit: Int
    ) -> [EntityTag] {
        var indices: [Int]
        if let selected {
            guard stored[selected].facts.entityTag != nil, stored[selected].mayBeValidated else { return [] }
            indices = stored.indices.filter {
                $0 != selected && stored[$0].mayBeValidated && stored[$0].mayAnswer(request)
            }
            indices.sort { stored[$0].precedes(stored[$1]) }
            indices.insert(selected, at: 0)
        } else {
            indices = stored.indices.filter { stored[$0].mayBeAdopted }
            indices.sort { stored[$0].precedes(stored[$1]) }
        }
        var tags: [EntityTag] = []
        for index in indices where tags.count < limit {
            guard let tag = stored[index].facts.entityTag, !tags.contains(tag) else { continue }
            // Only tags by the grammar can be told apart in a list.
            guard tag.isValid else {
                if tags.isEmpty { return [tag] }
                continue
            }
            tags.append(tag)
        }
        return tags
    }

    /// Selects the stored response to use when the request fails (RFC 9111 §4.2.4, §4.3.3; RFC 5861 §4).
    ///
    /// `no-cache`, an invalidation, and `must-revalidate` of a stale response forbid any use, with or without a
    /// network; `proxy-revalidate` and `s-maxage` do not apply to a private cache. A request with `no-cache`, `max-age`
    /// or `min-fresh` gets a stale response only if its own `max-stale` or `stale-if-error` allows it.
    ///
    /// - Parameters:
    ///   - failure: How the request failed.
    ///   - now: The current time.
    /// - Returns: The response to use, or nil to pass the failure on: as 504 if a status code is needed (§5.2.2.2).
    public func standIn(for failure: Failure, now: Date) -> StoredSelection? {
        guard let selected else { return nil }
        let head = stored[selected]
        let freshness = head.freshness(now: now, rules: rules)
        guard mayStandIn(head, freshness, for: failure) else { return nil }
        return StoredSelection(
            index: selected,
            head,
            freshness,
            answer: StoredAnswer(of: head, for: original)
        )
    }

    private func mayStandIn(_ head: StoredHead, _ freshness: Freshness, for failure: Failure) -> Bool {
        let response = head.facts.cacheControl
        guard !head.needsValidation, response.noCache != .response,
            freshness.isFresh || !response.mustRevalidate
        else { return false }
        if case .status(let code) = failure, ![500, 502, 503, 504].contains(code) { return false }
        let request = RequestCacheControl(original.headerFields)
        let staleness = max(freshness.age - freshness.lifetime, .zero)
        if let limit = request.staleIfError, staleness <= limit { return true }
        if case .any = request.maxStale { return true }
        if case .upTo(let limit) = request.maxStale, staleness <= limit { return true }
        guard !request.wantsFresh else { return false }
        if let limit = response.staleIfError, staleness <= limit { return true }
        guard failure == .unreachable else { return false }
        switch rules.staleWhenDisconnected {
        case .never: return freshness.isFresh
        case .upTo(let limit): return staleness <= limit
        case .always: return true
        }
    }
}
