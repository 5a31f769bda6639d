package import HTTPTypes

/// The meaning of a response head for a download; a pure function of its inputs.
package enum DownloadResponse: Equatable, Sendable {
    /// The body continues the partial file, which belongs to the same representation; `total` bytes in all, if known.
    /// If not, more bytes may follow after the body.
    case resume(total: Int?)
    /// The body is the whole file, from its first byte on.
    case begin(total: Int?, Validators)
    /// The partial file is already complete.
    case complete
    /// The partial file cannot be continued; the whole file must be requested.
    case startAgain
    /// The download fails.
    case fail(Failure)

    package enum Failure: Equatable, Sendable {
        case status
        case wrongSize(announced: Int, expected: Int)
        case unasked
    }

    /// Interprets a response head.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: The header fields.
    ///   - offset: How many bytes have arrived already; the requested range starts here.
    ///   - total: The length of the whole file, as an earlier response has said; nil if none did.
    ///   - validators: The validators of the bytes that have arrived already.
    ///   - expected: The length that the file must have; nil for any.
    package init(
        status: Int,
        fields: HTTPFields,
        offset: Int,
        total: Int?,
        validators: Validators?,
        expected: Int?
    ) {
        switch status {
        case 200: self = Self.whole(fields, expected)
        case 206 where offset == 0: self = .fail(.unasked)
        case 206: self = Self.part(fields, offset, total, validators, expected)
        case 416 where offset > 0:
            // RFC 9110 §15.5.17: the partial file may be complete already, if its length was not known before.
            if case .unsatisfied(let total)? = fields[.contentRange].flatMap(ContentRange.init), total == offset,
                expected.map({ $0 == offset }) ?? true
            {
                self = .complete
            } else {
                self = .startAgain
            }
        default: self = .fail(.status)
        }
    }

    private static func whole(_ fields: HTTPFields, _ expected: Int?) -> DownloadResponse {
        // Neither the length nor the ranges of a content-coded body are those of the file.
        if fields.isContentCoded {
            var validators = Validators(fields)
            validators.entityTag = nil
            validators.lastModified = nil
            return .begin(total: expected, validators)
        }
        let announced = fields[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
        if let announced, let expected, announced != expected {
            return .fail(.wrongSize(announced: announced, expected: expected))
        }
        return .begin(total: expected ?? announced, Validators(fields))
    }

    private static func part(
        _ fields: HTTPFields,
        _ offset: Int,
        _ earlierTotal: Int?,
        _ validators: Validators?,
        _ expected: Int?
    ) -> DownloadResponse {
        // A body with several ranges has no such field; the request does not ask for one either.
        guard !fields.isContentCoded,
            case .part(let first, _, let total)? = fields[.contentRange].flatMap(ContentRange.init), first == offset
        else { return .startAgain }
        let known = expected ?? earlierTotal
        if let total, let known, total != known { return .startAgain }
        if let validators, Validators(fields).contradicts(validators) { return .startAgain }
        return .resume(total: known ?? total)
    }
}

extension HTTPFields {
    fileprivate var isContentCoded: Bool {
        self[.contentEncoding].map { !ContentCodings([$0]).names.isEmpty } ?? false
    }
}

/// The `Content-Range` field (RFC 9110 §14.4).
enum ContentRange: Equatable, Sendable {
    /// `bytes 500-999/8000`, or `bytes 500-999/*` where the total is unknown.
    case part(first: Int, last: Int, total: Int?)
    /// `bytes */8000`: the requested range does not exist.
    case unsatisfied(total: Int)

    /// Reads a field value; nil when it is not a valid range of bytes.
    init?(_ value: String) {
        let words = value.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].equalsIgnoringCase("bytes") else { return nil }
        let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        guard total != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < .max, total.map({ last < $0 }) ?? true
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}

/// The validators that distinguish one representation of a file from another, strictly enough to join two parts of it.
package struct Validators: Hashable, Codable, Sendable {
    /// A strong entity tag, with its quotes.
    package var entityTag: String?
    /// `Last-Modified`, if it counts as a strong validator.
    package var lastModified: String?

    /// Reads the validators of a response that may be used with ranges (RFC 9110 §13.1.5).
    ///
    /// A weak tag says that two representations are equivalent, not that they have the same bytes, so it is left out. A
    /// date has a resolution of one second, and counts only when the response was made at least one second later
    /// (§8.8.2.2); otherwise the file may have changed again within that second.
    package init(_ fields: HTTPFields) {
        // A tag longer than 1024 bytes is left out, so that the record stays small.
        if let text = fields[.eTag], text.utf8.count <= 1024, let tag = EntityTag(text), !tag.isWeak {
            entityTag = tag.fieldValue
        }
        if let text = fields[.lastModified], let modified = Self.date(text),
            let date = fields[.date].flatMap(Self.date),
            date.secondsSinceEpoch - modified.secondsSinceEpoch >= 1
        {
            lastModified = text
        }
    }

    private static func date(_ text: String) -> HTTPDate? {
        // The present matters only for the two-digit years of an obsolete date format; any value will do to compare two
        // dates.
        HTTPDate(text, now: HTTPDate(nearestTo: 1_767_225_600))
    }

    /// The value for `If-Range`; nil when there is no validator.
    package var condition: String? { entityTag ?? lastModified }

    /// Whether these validators show that a part belongs to another representation than the earlier parts.
    package func contradicts(_ earlier: Validators) -> Bool {
        if let entityTag, let known = earlier.entityTag { return entityTag != known }
        if entityTag == nil, earlier.entityTag == nil, let lastModified, let known = earlier.lastModified {
            return lastModified != known
        }
        return false
    }
}
