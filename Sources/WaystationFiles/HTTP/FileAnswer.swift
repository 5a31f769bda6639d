public import Foundation
public import HTTPTypes
package import Synchronization

/// What an ``OfflineDirectory`` has to say to a request.
public enum FileOutcome: Sendable {
    /// A complete HTTP answer, which may also be a 301, 304, 405, 412 or 416.
    case answer(FileAnswer)
    /// The directory holds no such file.
    case notFound
    /// The path is never served, whatever the directory holds.
    case refused(PathRefusal)
    /// The file is there, but could not be read.
    case failed(OfflineDirectoryError)
}

/// A complete HTTP answer made from a file.
///
/// Immutable but for `prepared`. The fields do not include `Date`, since an answer may be given many times.
public final class FileAnswer: Sendable {
    /// 200, 206, 301, 304, 405, 412 or 416.
    public let status: HTTPResponse.Status
    /// The response's header fields; `Content-Length` is that of a GET for an answer to HEAD too.
    public let headerFields: HTTPFields
    /// The bytes to send; empty for an answer to HEAD.
    public let body: FileBody
    /// How many bytes ``body`` has.
    public let length: Int

    /// A place for an object that a consumer builds from this answer once and uses as long as the answer lives.
    ///
    /// Empty at first. Never read or written here.
    package let prepared = Mutex<(any Sendable)?>(nil)

    package init(status: HTTPResponse.Status, headerFields: HTTPFields, body: FileBody) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        length = body.count
    }
}

/// The bytes of a ``FileAnswer``.
public enum FileBody: Sendable {
    /// No bytes.
    case empty
    /// Bytes in memory.
    case data(Data)
    /// Bytes still in a file, to be read piece by piece.
    case slice(FileSlice)

    /// How many bytes there are.
    public var count: Int {
        switch self {
        case .empty: 0
        case .data(let data): data.count
        case .slice(let slice): slice.length
        }
    }
}
