#if NIO
import NIOCore
import NIOHTTP1
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension ExchangeFailure {
    /// The failure that an error of the channel means for the exchange on it.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - hasHead: Whether the head of the final response has arrived.
    ///   - hasBytes: Whether any byte of the response has arrived.
    init(_ error: any Error, hasHead: Bool, hasBytes: Bool) {
        switch error {
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection:
            self = .closed(hasHead: hasHead, hasBytes: hasBytes)
        case HTTPParserError.headerOverflow:
            self.init(
                .limitExceeded,
                "The response has more or longer fields than the limits allow. Raise fields or headBytes if it must."
            )
        case HTTPParserError.invalidConstant, HTTPParserError.invalidVersion, HTTPParserError.invalidStatus:
            self.init(
                hasHead ? .invalidResponse : .notHTTP,
                "The server's answer does not begin as an HTTP/1.x response does. Check the port and the protocol."
            )
        case let error as HTTPParserError:
            self.init(
                .invalidResponse,
                "The response breaks the rules of HTTP/1.1: \(error). Ask the server's operator."
            )
        case is NIOHTTPDecoderError:
            self.init(.invalidResponse, "The server sent a response that no request asked for. Ask its operator.")
        case let error as IOError where error.errnoCode == ECONNRESET:
            self.init(.connectionReset, "The server reset the connection. Try again.")
            isUnanswered = !hasBytes
        case let error as IOError:
            self.init(
                hasBytes && !hasHead ? .invalidResponse : .connectionLost,
                "The connection failed: \(error.inWords). Try again."
            )
            isUnanswered = !hasBytes
        case _ where error.inWords == "no renegotiation":
            self.init(
                .invalidResponse,
                "The server asks for a renegotiation of TLS 1.2, which this engine refuses. Ask its operator to do without."
            )
        case is ChannelError: self = .closed(hasHead: hasHead, hasBytes: hasBytes)
        case NIOSSLError.uncleanShutdown: self = .closed(hasHead: hasHead, hasBytes: hasBytes)
        default: self.init(.invalidResponse, "The connection failed: \(error.inWords). Try again.")
        }
    }

    /// The body would still be coded: the parser removes the chunked coding only.
    static let unknownTransferCoding = Self(
        .invalidResponse,
        "The response has a transfer coding other than chunked. Ask the server's operator."
    )

    /// The connection was closed before the response was complete.
    static func closed(hasHead: Bool, hasBytes: Bool) -> Self {
        if hasHead { return Self(.connectionLost, "The server closed the connection within the body. Load it again.") }
        if hasBytes {
            return Self(.invalidResponse, "The server closed the connection within the head. Load it again.")
        }
        var failure = Self(.connectionLost, "The server closed the connection without an answer. Try again.")
        failure.isUnanswered = true
        return failure
    }
}
#endif
