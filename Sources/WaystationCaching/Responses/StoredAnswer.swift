import HTTPTypes
import WaystationFields

/// What a stored response comes to for a request with conditions or a range of its own.
public enum StoredAnswer: Hashable, Sendable {
    /// The response as it is.
    case whole
    /// The response without its content, for HEAD.
    case head
    /// 206 with a run of the content's bytes (RFC 9110 §15.3.7).
    case part(Range<Int>)
    /// 304: what the client has is current (RFC 9110 §15.4.5).
    case notModified
    /// 416: the content has none of the bytes asked for (RFC 9110 §15.5.17).
    case rangeNotSatisfiable

    /// Evaluates a request's own fields in the order of RFC 9110 §13.2.2.
    ///
    /// `If-Match` and `If-Unmodified-Since`, the first two steps, are not for caches (RFC 9111 §4.3.2); a request with
    /// them is forwarded before it comes here. Conditions concern stored 200 responses alone. Several ranges, other
    /// units and invalid ranges are answered by the whole, which RFC 9110 §14.2 always allows.
    init(of exchange: StoredExchange, for request: HTTPRequest) {
        let fields = request.headerFields
        let unconditional: StoredAnswer = request.method == .head ? .head : .whole
        self = unconditional
        guard exchange.response.status.code == 200 else { return }
        let facts = exchange.facts
        if let value = fields[.ifNoneMatch] {
            // RFC 9110 §13.1.2: weak comparison; a value that is no list matches nothing.
            if let list = EntityTagList(value), list.weaklyMatches(facts.entityTag) {
                self = .notModified
                return
            }
        } else if let date = fields.firstValue(.ifModifiedSince).flatMap({ facts.readDate($0) }),
            // §4.3.2: Date stands in for Last-Modified; it is the time of receipt where there is none.
            facts.lastModified?.moment ?? facts.date <= date.moment
        {
            self = .notModified
            return
        }
        guard request.method == .get, let range = fields.firstValue(.range), let length = exchange.contentLength,
            length >= 0,
            fields.firstValue(.ifRange).map({ facts.isSame(as: $0) }) ?? true
        else { return }
        switch ByteRange(range, length: length) {
        case .ignored: break
        case .part(let bytes): self = .part(bytes)
        case .unsatisfiable: self = .rangeNotSatisfiable
        }
    }
}

extension ResponseFacts {
    /// A date of a request; years of two digits are those around the response.
    fileprivate func readDate(_ text: String) -> HTTPDate? {
        HTTPDate(cached: text, now: HTTPDate(nearestTo: date))
    }

    /// Whether `If-Range` is true (RFC 9110 §13.1.5): a strong tag that is the same, or exactly the strong date.
    fileprivate func isSame(as validator: String) -> Bool {
        if let tag = EntityTag(validator) { return entityTag?.stronglyMatches(tag) ?? false }
        guard let presented = readDate(validator), let lastModified else { return false }
        // RFC 9110 §8.8.2.2: strong when it is at least a second before Date.
        return presented == lastModified && lastModified.moment + 1 <= date
    }
}
