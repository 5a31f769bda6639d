public import HTTPTypes

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
