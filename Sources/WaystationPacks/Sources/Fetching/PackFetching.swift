public import Foundation
public import HTTPTypes

/// The network, as sources and downloads see it: one request out, one response in.
///
/// The default is ``URLSessionFetcher``. Redirects are the fetcher's matter: it follows them, and the response names the
/// URL that it came from in the end.
public protocol PackFetching: Sendable {
    /// Sends a request, and returns when the response's head has arrived.
    ///
    /// Every final status is a normal result. Cancelling the calling task, before the head or while the body is read,
    /// stops the traffic; so does dropping the response.
    ///
    /// - Throws: ``PackError`` with ``PackError/Code/network`` when no response arrived.
    func fetch(_ request: FetchRequest) async throws -> FetchedResponse
}

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

/// A response whose body is still arriving.
public struct FetchedResponse: Sendable {
    /// The final status code.
    public let status: Int
    /// The header fields.
    public let fields: HTTPFields
    /// Where the response came from, after redirects.
    public let url: URL
    /// The parts of the body, as they come.
    ///
    /// It ends without an error only when the body was complete by the response's own framing, or when the reading task
    /// was cancelled: ask `Task.isCancelled` after its end.
    public let body: AsyncThrowingStream<Data, any Error>

    /// A response.
    public init(status: Int, fields: HTTPFields, url: URL, body: AsyncThrowingStream<Data, any Error>) {
        self.status = status
        self.fields = fields
        self.url = url
        self.body = body
    }
}
