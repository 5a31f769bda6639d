public import Foundation
public import HTTPTypes

/// A request for a pack, or for news of packs.
public struct FetchRequest: Sendable, Hashable {
    /// Where it goes.
    public var url: URL
    /// The method; GET by default.
    public var method: HTTPRequest.Method
    /// The header fields beside those that the fetcher adds itself.
    public var fields: HTTPFields
    /// The body, empty by default.
    public var body: Data
    /// How many bytes of body may arrive, after any content coding is undone.
    ///
    /// One more, and the fetcher stops the traffic and the body ends with ``PackError/Code/tooLarge``.
    public var maximumBodySize: Int

    /// A request.
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
