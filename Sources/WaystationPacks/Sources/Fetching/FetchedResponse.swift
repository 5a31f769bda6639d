public import Foundation
public import HTTPTypes

/// A response whose body is still arriving.
public struct FetchedResponse: Sendable {
    /// The final status code.
    public let status: Int
    /// The header fields.
    public let fields: HTTPFields
    /// The URL of the response, after redirects.
    public let url: URL
    /// The parts of the body, as they arrive.
    ///
    /// The body ends without an error only when it is complete by the response's own framing, or when the reading task
    /// was cancelled: check `Task.isCancelled` after its end.
    public let body: AsyncThrowingStream<Data, any Error>

    /// Makes a response.
    public init(status: Int, fields: HTTPFields, url: URL, body: AsyncThrowingStream<Data, any Error>) {
        self.status = status
        self.fields = fields
        self.url = url
        self.body = body
    }
}
