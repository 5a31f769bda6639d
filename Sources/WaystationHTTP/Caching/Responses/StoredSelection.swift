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

/// The part of a cache key that `Vary` adds: the nominated request fields and their values (RFC 9111 §4.1).
public struct VaryKey: Hashable, Sendable {
    /// One nominated request field.
    public struct Nominee: Hashable, Sendable {
        /// The name of the field.
        public let name: HTTPField.Name
        /// The normalised value, or nil when the request did not have the field; a missing field matches only a missing
        /// field.
        public let value: String?

        /// Makes a nominated field with the value that a request has; nil when it does not have the field.
        public init(name: HTTPField.Name, value: String?) {
            self.name = name
            self.value = value.map { VaryKey.normalized($0, of: name) }
        }
    }

    /// Whether `Vary` has a member `*`, so that no request ever matches.
    public let matchesNothing: Bool
    /// The nominated fields, sorted by name; each name occurs once.
    public let nominees: [Nominee]

    /// The key of a response that does not vary.
    public static let none = VaryKey([])

    /// Whether the response had a `Vary` field that nominates any field.
    public var isPresent: Bool { matchesNothing || !nominees.isEmpty }

    /// Makes a key of nominated fields, such as those that a store has kept; if a name occurs twice, the first one counts.
    public init(_ nominees: [Nominee]) {
        var seen: Set<HTTPField.Name> = []
        matchesNothing = false
        self.nominees = nominees.filter { seen.insert($0.name).inserted }
            .sorted { $0.name.canonicalName < $1.name.canonicalName }
    }

    /// Makes the key of a response to a request.
    ///
    /// A member that is not a valid field name cannot be compared with a request, so it counts as `*`.
    ///
    /// - Parameters:
    ///   - response: The response's fields, with `Vary`.
    ///   - request: The request's fields.
    public init(_ response: HTTPFields, request: HTTPFields) {
        var names: Set<HTTPField.Name> = []
        for line in response where line.name == .vary {
            for member in line.value.listMembers {
                guard member != "*", let name = HTTPField.Name(member) else {
                    matchesNothing = true
                    nominees = []
                    return
                }
                names.insert(name)
            }
        }
        matchesNothing = false
        nominees = names.sorted { $0.canonicalName < $1.canonicalName }.map { name in
            Nominee(name: name, value: request.combined(name))
        }
    }

    /// Whether a request has the same values in the nominated fields.
    public func matches(_ request: HTTPFields) -> Bool {
        if matchesNothing { return false }
        for nominee in nominees {
            guard let presented = request.combined(nominee.name) else {
                if nominee.value == nil { continue }
                return false
            }
            guard let value = nominee.value else { return false }
            // Most values are already normalised.
            if presented != value, Self.normalized(presented, of: nominee.name) != value { return false }
        }
        return true
    }

    /// Normalises a value, so that values with the same meaning become equal.
    ///
    /// Several lines have been joined to one list before. In fields that are known to be lists, the space around
    /// members and empty members are removed; case-insensitive lists are converted to lower case; codings, whose order
    /// has no meaning, are sorted. Other fields only lose the space at both ends.
    static func normalized(_ value: String, of name: HTTPField.Name) -> String {
        switch name {
        case .acceptEncoding: listMembers(value.lowercased()).sorted().joined(separator: ",")
        case .acceptLanguage: listMembers(value.lowercased()).joined(separator: ",")
        case .accept where !value.contains("\""): listMembers(value).joined(separator: ",")
        default: value.trimmingSpace()
        }
    }

    /// The members of a list, without the space that may surround `;`.
    private static func listMembers(_ value: String) -> [String] {
        value.listMembers.map { member in
            guard member.utf8.contains(UInt8(ascii: ";")) else { return member }
            return member.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
                .map { String(Substring($0.trimmingSpace())) }.joined(separator: ";")
        }
    }
}
