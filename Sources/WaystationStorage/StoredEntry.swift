public import Foundation
public import WaystationCaching

/// The index data of one response, without its header fields and its body.
public struct StoredEntry: Sendable {
    /// The identifier of the response in its store.
    public let id: Int64

    /// The key of the request that the response answers.
    public let key: RequestKey

    /// The request fields that selected the response.
    public let vary: VaryKey

    /// The status code.
    public let status: Int

    /// When the request was sent.
    public let requestTime: Date

    /// When the response arrived or was last freshened.
    public let responseTime: Date

    /// When the response was last used; the store writes this only now and then.
    public let lastUsed: Date

    /// The number of bytes in the body.
    public let bodyLength: Int

    /// The bytes that the response counts towards the size of the store: body, fields and URL.
    ///
    /// A body that several responses share counts once for the store.
    public let size: Int

    /// The body's path below `bodies/`; `nil` for a body in the index.
    public let bodyFile: String?
}
