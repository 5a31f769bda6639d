public import Foundation

/// What a store's index says about one response, without its fields and its body.
public struct StoredEntry: Sendable {
    /// Names the response in its store.
    public let id: Int64

    /// What the response answers.
    public let key: RequestKey

    /// The request fields that chose the response.
    public let vary: VaryRecord

    /// The status code.
    public let status: Int

    /// When the request was sent.
    public let requestTime: Date

    /// When the response arrived or was last freshened.
    public let responseTime: Date

    /// When it was last used; written down now and then only.
    public let lastUsed: Date

    /// The number of bytes in the body.
    public let bodyLength: Int

    /// What it counts against the size of the store: body, fields and URL.
    ///
    /// Where several responses share a body, the store counts that once.
    public let size: Int

    /// The body's path below `bodies/`; `nil` for a body in the index.
    public let bodyFile: String?
}
