import Foundation
import HTTPTypes
import WaystationFields

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
