public import Foundation
public import HTTPTypes

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
