#if Gateway
import NIOHTTP1

/// The end of a response's body, as the client learns of it (RFC 9112 §6).
enum ResponseFraming: Equatable, Sendable {
    /// The response has no body.
    case none
    /// The body has this many bytes.
    case length(Int)
    /// Each part states its length; the last one is empty.
    case chunked
    /// The end of the connection ends the body, for clients of HTTP/1.0.
    case close

    /// Finds the framing of a response.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - version: The version of the client.
    ///   - status: The status of the response.
    ///   - length: The length that the response states, if it is that of the bytes that are delivered.
    /// - Returns: The framing.
    static func of(
        _ method: HTTPMethod,
        _ version: HTTPVersion,
        status: Int,
        length: Int?
    ) -> ResponseFraming {
        if method == .HEAD || status == 204 || status == 304 { return .none }
        if let length { return .length(length) }
        return version == .http1_0 ? .close : .chunked
    }
}
#endif
