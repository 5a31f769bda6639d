public import Foundation
public import HTTPTypes
package import Synchronization
package import WaystationHTTP

/// The result of a request to an ``OfflineDirectory``.
public enum FileOutcome: Sendable {
    /// A complete HTTP answer, which may also be a 301, 304, 405, 412 or 416.
    case answer(FileAnswer)
    /// The directory does not contain such a file.
    case notFound
    /// The path is never served, whatever the directory contains.
    case refused(PathRefusal)
    /// The file exists, but could not be read.
    case failed(OfflineDirectoryError)
}

/// A complete HTTP answer made from a file.
///
/// Immutable except for `prepared`. The fields do not include `Date`, since an answer may be used many times.
public final class FileAnswer: Sendable {
    /// 200, 206, 301, 304, 405, 412 or 416.
    public let status: HTTPResponse.Status
    /// The response's header fields; for HEAD, `Content-Length` is that of the answer to GET.
    public let headerFields: HTTPFields
    /// The bytes to send; empty for the answer to HEAD.
    public let body: FileBody
    /// The number of bytes in ``body``.
    public let length: Int

    /// An object that a caller makes from this answer once and uses as long as the answer lives.
    ///
    /// It is nil at first. This module never reads or writes it.
    package let prepared = Mutex<(any Sendable)?>(nil)

    package init(status: HTTPResponse.Status, headerFields: HTTPFields, body: FileBody) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        length = body.count
    }
}

extension FileAnswer {
    /// Answers 301 to the same path with a slash at its end.
    ///
    /// The `./` prevents a name with a colon from being read as a scheme (RFC 3986 section 4.2).
    ///
    /// - Parameters:
    ///   - name: The last name of the path, percent-encoded.
    ///   - query: The query of the request, which is kept.
    /// - Returns: The answer.
    package static func redirect(toFolder name: some StringProtocol, _ query: (some StringProtocol)?) -> FileAnswer {
        let location = "./\(name)/" + (query.map { "?\($0)" } ?? "")
        return .empty(.movedPermanently, [.location: location])
    }
}

/// The bytes of a ``FileAnswer``.
public enum FileBody: Sendable {
    /// No bytes.
    case empty
    /// Bytes in memory.
    case data(Data)
    /// Bytes in a file, to be read piece by piece.
    case slice(FileSlice)

    /// The number of bytes.
    public var count: Int {
        switch self {
        case .empty: 0
        case .data(let data): data.count
        case .slice(let slice): slice.length
        }
    }
}

/// A request to an ``OfflineDirectory``.
public struct FileRequest: Sendable {
    /// The request method.
    ///
    /// All methods other than GET and HEAD are answered with 405.
    public var method: HTTPRequest.Method
    /// The percent-encoded path relative to the directory, without query and fragment; no leading slash needed.
    public var path: String
    /// The percent-encoded query without its `?`, or `nil`.
    ///
    /// The query does not change which file answers; it is only repeated in the `Location` of a redirect.
    public var query: String?
    /// The request's header fields; `Range` and the conditional fields are evaluated.
    public var headerFields: HTTPFields

    /// Describes a request.
    public init(
        method: HTTPRequest.Method = .get,
        path: String,
        query: String? = nil,
        headerFields: HTTPFields = [:]
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headerFields = headerFields
    }
}

extension FileRequest {
    /// Whether the answer depends only on the file: the request is a GET or HEAD without `Range` and `If-…` fields.
    var isPlain: Bool {
        guard method == .get || method == .head else { return false }
        return headerFields.allSatisfy { field in
            let name = field.name.canonicalName
            return name != "range" && !name.utf8.starts(with: "if-".utf8)
        }
    }
}

/// The result of a request's conditional fields for a file that exists (RFC 9110 section 13.2.2).
package enum Precondition: Sendable, Equatable {
    /// Continue as if there were no conditions, with or without the `Range` field.
    case proceed(honoursRange: Bool)
    /// Answer 304.
    case notModified
    /// Answer 412.
    case failed

    /// Evaluates the fields of a GET or HEAD in the order of section 13.2.2.
    ///
    /// An invalid date is ignored; an invalid list of tags matches nothing.
    package init(_ fields: HTTPFields, entityTag: EntityTag, lastModified: HTTPDate?, now: HTTPDate) {
        // 1 and 2
        if let value = fields[.ifMatch] {
            guard let list = EntityTagList(value), list.stronglyMatches(entityTag) else {
                self = .failed
                return
            }
        } else if let date = HTTPDate(fields[.ifUnmodifiedSince], now: now), let lastModified, lastModified > date {
            self = .failed
            return
        }
        // 3 and 4
        if let value = fields[.ifNoneMatch] {
            if let list = EntityTagList(value), list.weaklyMatches(entityTag) {
                self = .notModified
                return
            }
        } else if let date = HTTPDate(fields[.ifModifiedSince], now: now), let lastModified, lastModified <= date {
            self = .notModified
            return
        }
        // 5
        guard let value = fields[.ifRange] else {
            self = .proceed(honoursRange: true)
            return
        }
        if let tag = EntityTag(value) {
            self = .proceed(honoursRange: entityTag.stronglyMatches(tag))
        } else if let date = HTTPDate(value, now: now), let lastModified {
            // Section 13.1.5: an exact match. Section 8.8.2.2: the date is weak until the second that it names is over.
            self = .proceed(honoursRange: date == lastModified && lastModified < now)
        } else {
            self = .proceed(honoursRange: false)
        }
    }
}

extension HTTPDate {
    fileprivate init?(_ value: String?, now: HTTPDate) {
        guard let value else { return nil }
        self.init(value, now: now)
    }
}

/// A version of a file with all metadata for its answers; making an answer needs no I/O.
struct Representation: Sendable {
    /// The place of the bytes.
    enum Content: Sendable {
        case memory(Data)
        case file(StampedFile, chunkSize: Int)
    }

    let content: Content
    let length: Int
    let entityTag: EntityTag
    /// `nil` when the file's time cannot be written as an HTTP-date.
    let lastModified: HTTPDate?
    let mediaType: MediaType

    /// Answers 200 with the whole file.
    func answer(isHead: Bool) -> FileAnswer {
        FileAnswer(status: .ok, headerFields: fields(length: length), body: isHead ? .empty : body(0..<length))
    }

    /// Answers 206 with a range of the file's bytes (RFC 9110 section 15.3.7).
    func answer(part: Range<Int>) -> FileAnswer {
        var fields = fields(length: part.count)
        fields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
        return FileAnswer(status: .partialContent, headerFields: fields, body: body(part))
    }

    /// Answers 416: the file has none of the requested bytes (section 15.5.17).
    func answerRangeNotSatisfiable() -> FileAnswer {
        .empty(.rangeNotSatisfiable, [.contentRange: "bytes */\(length)", .acceptRanges: "bytes"])
    }

    /// Answers 304: the client already has this version (section 15.4.5).
    ///
    /// With an `ETag`, a cache needs no other field for its update.
    func answerNotModified() -> FileAnswer {
        FileAnswer(status: .notModified, headerFields: [.eTag: entityTag.fieldValue], body: .empty)
    }

    private func fields(length: Int) -> HTTPFields {
        var fields: HTTPFields = [
            .contentType: mediaType.fieldValue,
            .contentLength: String(length),
            .eTag: entityTag.fieldValue,
            .acceptRanges: "bytes",
        ]
        if let lastModified { fields[.lastModified] = lastModified.fieldValue }
        if let encoding = mediaType.contentEncoding { fields[.contentEncoding] = encoding }
        return fields
    }

    private func body(_ range: Range<Int>) -> FileBody {
        guard !range.isEmpty else { return .empty }
        switch content {
        case .memory(let data):
            if range.count == data.count { return .data(data) }
            // `Data(…)` copies the bytes, so that a small part does not keep the whole file in memory, and so that its
            // indices begin at 0.
            return .data(Data(data[data.startIndex + range.lowerBound..<data.startIndex + range.upperBound]))
        case .file(let file, let chunkSize):
            return .slice(FileSlice(of: file, offset: range.lowerBound, length: range.count, chunkSize: chunkSize))
        }
    }
}

extension FileAnswer {
    /// An answer that has only a status and fields.
    static func empty(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> FileAnswer {
        var fields = fields
        fields[.contentLength] = "0"
        return FileAnswer(status: status, headerFields: fields, body: .empty)
    }
}
