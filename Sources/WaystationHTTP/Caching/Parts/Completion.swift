package import Foundation
package import HTTPTypes

/// The plan of an answer of which only some bytes are stored: those that are missing are asked for, one span after the
/// other, and joined with the stored ones (RFC 9111 §3.4, RFC 9110 §13.1.5).
package struct Completion: Sendable {
    /// The index of the joined parts among the stored responses.
    package let index: Int
    /// The head of the representation.
    package let head: StoredHead
    /// The form of the answer.
    package let answer: StoredAnswer
    /// The bytes of the representation that the answer has.
    package let wanted: Range<Int>
    /// The bytes among them that are not stored, sorted.
    package let missing: [Range<Int>]
    private let request: HTTPRequest
    private let validators: Validators

    /// Plans the answer to a request; nil if no stored part is of use for it.
    ///
    /// A part that is stale is of use too: the origin confirms it by sending bytes of the same representation.
    ///
    /// - Parameters:
    ///   - request: The client's request.
    ///   - stored: The stored responses, with the joined ones.
    package init?(for request: HTTPRequest, among stored: [StoredHead]) {
        guard request.method == .get else { return nil }
        let demands = RequestDemands(request.headerFields)
        guard !demands.hasOriginPrecondition, !demands.cacheControl.noStore, !demands.cacheControl.onlyIfCached,
            !request.headerFields.contains(.ifNoneMatch), !request.headerFields.contains(.ifModifiedSince)
        else { return nil }
        let joined = stored.indices.filter { stored[$0].held != nil && stored[$0].isSelected(by: request.headerFields) }
        guard let index = joined.max(by: { stored[$1].precedes(stored[$0]) }), let held = stored[index].held,
            let total = stored[index].contentLength
        else { return nil }
        head = stored[index]
        answer = StoredAnswer(of: head, for: request)
        switch answer {
        case .whole: wanted = 0..<total
        case .part(let range): wanted = range
        case .head, .notModified, .rangeNotSatisfiable: return nil
        }
        missing = StoredParts.missing(of: wanted, beside: held)
        guard !missing.isEmpty, missing != [wanted] else { return nil }
        self.index = index
        self.request = request
        validators = Validators(head.headerFields)
        // Bytes of an origin without validators cannot be joined. It is asked for the rest all the same if that is one
        // request, because such an origin mostly answers it with the whole response.
        guard validators.condition != nil || (missing.count == 1 && missing[0].upperBound == total) else { return nil }
    }

    /// Whether the stored bytes may answer the request without asking the origin (RFC 9111 §4).
    package func isFresh(now: Date, rules: CachingRules) -> Bool {
        let freshness = head.freshness(now: now, rules: rules)
        return Standing(of: head, freshness, for: RequestCacheControl(request.headerFields)) == .fresh
    }

    /// The answer to a request for all bytes from one on (`bytes=100-`) when the origin cannot be asked: the stored bytes up
    /// to the first missing one.
    ///
    /// A server may send fewer bytes than it was asked for, and the client sees that by `Content-Range` (RFC 9110 §15.3.7).
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - rules: The caching rules.
    /// - Returns: The selection; nil if the request is another one, if its first byte is missing, or if the origin has to
    ///   confirm the parts first.
    package func beginning(now: Date, rules: CachingRules) -> StoredSelection? {
        guard case .part(let range) = answer, request.headerFields.firstValue(.range)?.last == "-",
            let end = missing.first?.lowerBound, end > range.lowerBound, !head.facts.isUnconfirmed
        else { return nil }
        let freshness = head.freshness(now: now, rules: rules)
        return StoredSelection(index: index, head, freshness, answer: .part(range.lowerBound..<end))
    }

    /// The fields of the request for missing bytes.
    ///
    /// - Parameter span: The missing bytes.
    /// - Returns: `Range`, and `If-Range` if the stored parts have a strong validator: without one, nothing can be joined,
    ///   and the request only shows what the origin has.
    package func conditions(for span: Range<Int>) -> (range: String, ifRange: String?) {
        let isRest = span.upperBound == head.contentLength
        return ("bytes=\(span.lowerBound)-\(isRest ? "" : String(span.upperBound - 1))", validators.condition)
    }

    /// Whether a response has missing bytes of the same representation, from the first one on.
    package func accepts(_ response: HTTPResponse, for span: Range<Int>) -> Bool {
        let fields = response.headerFields
        guard response.status.code == 206, !fields.contains(.contentEncoding), let condition = validators.condition,
            Validators(fields).condition == condition,
            case .part(let first, let last, let total)? = fields.firstValue(.contentRange).flatMap(ContentRange.init),
            first == span.lowerBound, last < span.upperBound
        else { return false }
        return total == nil || total == head.contentLength
    }

    /// The index of the same representation among stored responses: that of its joined parts, or that of the whole one.
    package func index(among stored: [StoredHead]) -> Int? {
        stored.indices.last { index in
            let other = stored[index]
            return other.status == 200 && other.contentLength == head.contentLength && validators.condition != nil
                && Validators(other.headerFields).condition == validators.condition
                && other.isSelected(by: request.headerFields)
        }
    }

    /// The first bytes of the answer that are missing.
    ///
    /// - Parameters:
    ///   - position: The number of the first byte that is needed.
    ///   - stored: The stored representation, if there is one.
    /// - Returns: The missing bytes up to the next stored one; nil if all are stored.
    package func missing(from position: Int, beside stored: StoredHead?) -> Range<Int>? {
        let rest = position..<max(position, wanted.upperBound)
        guard let stored else { return rest.isEmpty ? nil : rest }
        return stored.isComplete ? nil : StoredParts.missing(of: rest, beside: stored.held ?? []).first
    }

    /// The selection of the joined parts, updated by a response with missing bytes.
    ///
    /// - Parameters:
    ///   - response: The response, which was accepted.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the response was received.
    ///   - rules: The caching rules.
    /// - Returns: The selection.
    package func selection(
        updatedBy response: HTTPResponse,
        requestTime: Date,
        responseTime: Date,
        rules: CachingRules
    ) -> StoredSelection {
        let updated = head.updated(
            from: response,
            request: request,
            requestTime: requestTime,
            responseTime: responseTime
        )
        return StoredSelection(
            index: index,
            updated,
            updated.freshness(now: responseTime, rules: rules),
            answer: answer,
            isValidated: true
        )
    }
}
