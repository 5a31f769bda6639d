public import Foundation
public import HTTPTypes

/// A request for a pack, or for a check for updates.
public struct FetchRequest: Sendable, Hashable {
    /// The URL to fetch.
    public var url: URL
    /// The method; GET by default.
    public var method: HTTPRequest.Method
    /// The header fields, in addition to those that the fetcher adds itself.
    public var fields: HTTPFields
    /// The body, empty by default.
    public var body: Data
    /// The maximum size of the body in bytes, after content codings are removed.
    ///
    /// When more bytes arrive, the fetcher stops the traffic, and the body ends with ``PackError/Code/tooLarge``.
    public var maximumBodySize: Int

    /// Makes a request.
    public init(
        _ url: URL,
        method: HTTPRequest.Method = .get,
        fields: HTTPFields = [:],
        body: Data = Data(),
        maximumBodySize: Int
    ) {
        self.url = url
        self.method = method
        self.fields = fields
        self.body = body
        self.maximumBodySize = maximumBodySize
    }
}
