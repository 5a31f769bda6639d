import HTTPTypes

/// The form in which a stored response answers a request that may have conditions or a range.
public enum StoredAnswer: Hashable, Sendable {
    /// The response as it is.
    case whole
    /// The response without its content, for HEAD.
    case head
    /// 206 with a range of the content's bytes (RFC 9110 §15.3.7).
    case part(Range<Int>)
    /// 304: the client's copy is current (RFC 9110 §15.4.5).
    case notModified
    /// 416: the content has none of the requested bytes (RFC 9110 §15.5.17).
    case rangeNotSatisfiable

    /// Evaluates the request's conditions and range in the order of RFC 9110 §13.2.2.
    ///
    /// Caches do not evaluate `If-Match` and `If-Unmodified-Since`, the first two steps (RFC 9111 §4.3.2); a request
    /// with them is forwarded before this is called. Conditions apply only to stored 200 responses. Several ranges,
    /// other units and invalid ranges are answered with the whole content, which RFC 9110 §14.2 always allows.
    init(of head: StoredHead, for request: HTTPRequest) {
        let fields = request.headerFields
        let unconditional: StoredAnswer = request.method == .head ? .head : .whole
        self = unconditional
        guard head.status == 200 else { return }
        let facts = head.facts
        if let value = fields[.ifNoneMatch] {
            // RFC 9110 §13.1.2: weak comparison; a value that is not a valid list matches nothing.
            if let list = EntityTagList(asItCame: value), list.weaklyMatches(facts.entityTag) {
                self = .notModified
                return
            }
        } else if let date = fields.firstValue(.ifModifiedSince).flatMap({ facts.readDate($0) }),
            // §4.3.2: Date is used in place of Last-Modified; without a Date field it is the time of receipt.
            facts.lastModified?.moment ?? facts.date <= date.moment
        {
            self = .notModified
            return
        }
        guard request.method == .get, let range = fields.firstValue(.range), let length = head.contentLength,
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
    /// Reads a date of a request; a two-digit year is the one nearest to the response's date.
    fileprivate func readDate(_ text: String) -> HTTPDate? {
        HTTPDate(cached: text, now: HTTPDate(nearestTo: date))
    }

    /// Whether `If-Range` is true (RFC 9110 §13.1.5): its tag matches strongly, or its date is exactly the stored
    /// strong date.
    fileprivate func isSame(as validator: String) -> Bool {
        if let tag = EntityTag(validator) { return entityTag?.stronglyMatches(tag) ?? false }
        guard let presented = readDate(validator), let lastModified else { return false }
        // RFC 9110 §8.8.2.2: the date is strong if it is at least a second before Date.
        return presented == lastModified && lastModified.moment + 1 <= date
    }
}
