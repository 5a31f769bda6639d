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
