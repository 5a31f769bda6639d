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
        fields.append(contentsOf: unstoredFields)
        if !isValidated { fields[.age] = ageFieldValue }
        switch answer {
        case .whole, .head: break
        case .part(let bytes):
            status = 206
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
