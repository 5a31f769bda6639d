/// One member of a `Cache-Status` field (RFC 9211): how the waystation handled a request.
package struct CacheStatus: Equatable, Sendable {
    /// Why a request was forwarded (RFC 9211 §2.2).
    package enum ForwardReason: String, Sendable {
        /// The cache was not to be used.
        case bypass
        /// Nothing was stored for the URL.
        case uriMiss = "uri-miss"
        /// Something was stored, for other values of the fields that `Vary` names.
        case varyMiss = "vary-miss"
        /// The request's own policy, or its rule, wanted the network asked first.
        case request
        /// What was stored is too old.
        case stale
    }

    package enum Outcome: Equatable, Sendable {
        case hit
        case forwarded(ForwardReason, status: Int, isStored: Bool)
    }

    /// The name under which the waystation appears in the list of caches.
    package static let name = "Waystation"
    /// The field that carries it.
    package static let fieldName = "Cache-Status"

    package var outcome: Outcome
    /// How much longer the response may be served, in seconds; negative when it is served past its time.
    package var timeToLive: Int?
    /// A token that tells more: where a hit came from.
    package var detail: String?

    package init(_ outcome: Outcome, timeToLive: Int? = nil, detail: String? = nil) {
        self.outcome = outcome
        self.timeToLive = timeToLive
        self.detail = detail
    }

    /// The member, as a structured field item with parameters.
    package var fieldValue: String {
        var value = Self.name
        switch outcome {
        case .hit: value += "; hit"
        case .forwarded(let reason, let status, let isStored):
            value += "; fwd=\(reason.rawValue); fwd-status=\(status)"
            if isStored { value += "; stored" }
        }
        if let timeToLive { value += "; ttl=\(timeToLive)" }
        if let detail { value += "; detail=\(detail)" }
        return value
    }

    /// The field with this member after those of caches nearer to the origin (RFC 9211 §2).
    package func appended(to existing: String?) -> String {
        guard let existing, !existing.isEmpty else { return fieldValue }
        return "\(existing), \(fieldValue)"
    }
}
