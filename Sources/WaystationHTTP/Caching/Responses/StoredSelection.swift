public import Foundation
public import HTTPTypes

/// A stored response that was selected to answer a request, and the part of it to send.
public struct StoredSelection: Sendable, Hashable {
    /// The part of the stored content that belongs to the answer.
    public enum Content: Hashable, Sendable {
        /// No bytes.
        case none
        /// All of it.
        case whole
        /// These bytes.
        case bytes(Range<Int>)
    }

    /// The stored response's index among the stored responses that were passed to the decision.
    public let index: Int
    /// The stored response, with the updates of a 304 if there was one.
    public let head: StoredHead
    /// The age and lifetime of the stored response.
    public let freshness: Freshness
    /// The form in which the stored response answers this request.
    public let answer: StoredAnswer
    /// Whether the origin has just confirmed the stored response.
    public let isValidated: Bool
    /// The fields that `no-cache="…"` lists in the validating response; they belong to this answer and are not stored.
    private let unstoredFields: HTTPFields

    init(
        index: Int,
        _ head: StoredHead,
        _ freshness: Freshness,
        answer: StoredAnswer,
        isValidated: Bool = false,
        unstoredFields: HTTPFields = [:]
    ) {
        self.index = index
        self.head = head
        self.freshness = freshness
        self.answer = answer
        self.isValidated = isValidated
        self.unstoredFields = unstoredFields
    }

    /// Selects a stored response regardless of its freshness, for a client that decides this by itself.
    ///
    /// - Parameters:
    ///   - head: The stored response.
    ///   - index: The index of the response among the stored ones.
    ///   - request: The request that it answers; its range and conditions are evaluated.
    ///   - now: The current time.
    ///   - isValidated: Whether the origin has just confirmed it.
    ///   - rules: The caching rules.
    public init(
        of head: StoredHead,
        at index: Int,
        for request: HTTPRequest,
        now: Date,
        isValidated: Bool = false,
        rules: CachingRules = CachingRules()
    ) {
        self.init(
            index: index,
            head,
            head.freshness(now: now, rules: rules),
            answer: StoredAnswer(of: head, for: request),
            isValidated: isValidated
        )
    }

    /// The part of the stored content to send with ``response``.
    public var content: Content {
        switch answer {
        case .whole: .whole
        case .head, .notModified, .rangeNotSatisfiable: .none
        case .part(let bytes): .bytes(bytes)
        }
    }

    /// The `Age` field's value: the age in whole seconds, never negative (RFC 9111 §5.1).
    public var ageFieldValue: String { String(max(0, freshness.age.components.seconds)) }

    /// The status and header fields of the answer.
    ///
    /// Without validation it has its own `Age`, which replaces a stored one (RFC 9111 §4).
    public var response: HTTPResponse {
        let (status, headerFields) = parts
        return HTTPResponse(status: .init(code: status), headerFields: headerFields)
    }

    /// The status code and the header fields of ``response``.
    package var parts: (status: Int, headerFields: HTTPFields) {
        var (status, fields) = (head.status, head.headerFields)
        if head.facts.isTagged { fields = fields.withoutTags() }
        if head.facts.isUnconfirmed { fields = fields.confirmed() }
        fields.append(contentsOf: unstoredFields)
        if !isValidated { fields[.age] = ageFieldValue }
        switch answer {
        case .whole, .head: break
        case .part(let bytes):
            status = 206
            fields = fields.withoutContentDigest()
            fields[.contentLength] = String(bytes.count)
            let length = head.contentLength.map(String.init) ?? "*"
            fields[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length)"
        case .notModified:
            status = 304
            fields = fields.without(Self.representationFields)
            if fields.contains(.eTag) { fields[.lastModified] = nil }
        case .rangeNotSatisfiable:
            status = 416
            fields = fields.without(Self.representationFields)
            fields[.contentRange] = head.contentLength.map { "bytes */\($0)" }
            fields[.contentLength] = "0"
        }
        return (status, fields)
    }

    /// Fields that describe content that is not sent (RFC 9110 §15.4.5).
    private static let representationFields: [HTTPField.Name] = [
        .contentLength, .contentType, .contentEncoding, .contentLanguage, .contentRange,
    ]
}

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
    func isSame(as validator: String) -> Bool {
        if let tag = EntityTag(validator) { return entityTag?.stronglyMatches(tag) ?? false }
        guard let presented = readDate(validator), let lastModified else { return false }
        // RFC 9110 §8.8.2.2: the date is strong if it is at least a second before Date.
        return presented == lastModified && lastModified.moment + 1 <= date
    }
}
