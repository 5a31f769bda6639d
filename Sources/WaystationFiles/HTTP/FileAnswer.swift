public import Foundation
public import HTTPTypes
package import Synchronization

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
