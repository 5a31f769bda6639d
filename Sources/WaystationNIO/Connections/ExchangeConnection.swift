#if NIO
import NIOCore

/// A connection that carries exchanges.
///
/// All its methods are called on its event loop.
protocol ExchangeConnection: AnyObject {
    /// Sends the request of an exchange; the connection has capacity for it.
    func begin(_ exchange: any ConnectionExchange)
    /// Stops an exchange without a further call to it: an HTTP/1.1 connection closes, an HTTP/2 stream is reset.
    func cancel(_ exchange: any ConnectionExchange)
    /// The exchange can take more body now, after it returned false from `take`.
    func resume(_ exchange: any ConnectionExchange)
    /// A part of the request's body, which the connection asked for with `needsBody`, and whether it is the last one.
    func send(_ part: ByteBuffer, isLast: Bool, of exchange: any ConnectionExchange)
    /// Closes the connection when it carries no exchange any more, or at once if it carries none.
    func closeWhenIdle()
}

/// One exchange as its connection sees it.
///
/// All its methods are called on the connection's event loop.
protocol ConnectionExchange: AnyObject {
    /// Method, target in origin form (or absolute form for a proxy), authority, scheme and fields, ready to be sent.
    var requestHead: EngineRequestHead { get }
    /// Interim responses are not reported. At most one head for each exchange.
    func take(_ head: EngineResponseHead)
    /// Takes a part of the body as it was framed, before content codings are removed.
    /// Returns false when no more can be taken for now: then the connection stops reading (HTTP/1.1) or stops granting
    /// window (HTTP/2) until `resume`.
    func take(_ part: ByteBuffer) -> Bool
    /// More of the request's body can be sent now.
    func needsBody()
    /// The response is complete when `failure` is nil.
    func end(_ failure: ExchangeFailure?)
}

/// The reason why an exchange failed.
struct ExchangeFailure: Error, Equatable {
    enum Kind: Equatable {
        /// The connection was closed.
        case connectionLost
        /// The connection was reset.
        case connectionReset
        /// The server did not follow HTTP.
        case invalidResponse
        /// The answer is no HTTP at all, or its status is outside of 100 to 999.
        case notHTTP
        /// A limit of the engine was exceeded.
        case limitExceeded
        /// The request cannot be sent as it is.
        case invalidRequest
        /// The client of another library reports a failure.
        case reported(TransportFailure)
    }

    /// What a server did for others while it certainly did not process a request.
    enum Unprocessed: Equatable {
        /// The connection ended after it had carried others, or before the request was sent on it: another one takes it.
        case connectionEnded
        /// The server answered others on the same connection.
        case othersAnswered
        /// The server has answered nothing on the connection since the request was sent.
        case nothingAnswered
    }
    var kind: Kind
    /// A sentence for people: what was wrong, with the value, and what to do.
    var explanation: String
    /// Set if the server certainly did not process the request (REFUSED_STREAM, a stream above GOAWAY's last, a
    /// connection that was closed before a byte of the request was written): any method may be sent again.
    var unprocessed: Unprocessed?
    /// Whether the connection was lost before any byte of an answer.
    ///
    /// If it was kept from an earlier exchange, the server has most probably closed it while the request was on its way,
    /// and any method may be sent again; libcurl does the same.
    var isUnanswered = false
    /// Whether the server takes the request over HTTP/1.1 only (HTTP_1_1_REQUIRED, RFC 9113 §7).
    var requiresHTTP1 = false
    /// Whether an idempotent request may be sent again even if the connection was new: the server has said that it takes
    /// requests over HTTP/1.1 only, and new connections speak it, or a frame that belongs to another load broke the
    /// connection.
    var suggestsRetry = false

    var isUnprocessed: Bool { unprocessed != nil }
}

struct EngineRequestHead: Equatable {
    enum Framing: Equatable {
        case none
        case length(Int64)
        /// Chunked in HTTP/1.1, DATA frames in HTTP/2.
        case unknownLength
    }
    var method: String
    var scheme: String
    /// Host and port as `Host` and `:authority` carry them.
    var authority: String
    /// Path and query, "/" if empty; "*" for OPTIONS of a whole server.
    var target: String
    /// In the order in which they are sent; without Host, Content-Length and Transfer-Encoding.
    ///
    /// The same name may occur more than once.
    var fields: [(name: String, value: String)]
    var framing: Framing

    static func == (a: Self, b: Self) -> Bool {
        a.method == b.method && a.scheme == b.scheme && a.authority == b.authority && a.target == b.target
            && a.framing == b.framing && a.fields.elementsEqual(b.fields, by: ==)
    }
}

struct EngineResponseHead {
    var status: Int
    /// As received, in order, names in their case (HTTP/2: lower case).
    var fields: [(name: String, value: String)]
    /// Whether values may have lost bytes, because the codec of HTTP/2 makes U+FFFD of those that are not UTF-8.
    var hasLostBytes = false
}

/// The pool, as its connections see it.
///
/// All its methods are called on the event loop.
protocol ConnectionOwner: AnyObject {
    /// The number of further exchanges that the connection can take now; reported when it changes. A new HTTP/1.1
    /// connection reports 1, an HTTP/2 connection what SETTINGS_MAX_CONCURRENT_STREAMS and GOAWAY leave.
    func connection(_ connection: any ExchangeConnection, canTake count: Int)
    /// An HTTP/1.1 connection has finished its exchange: it can take another one, unless the server has closed it.
    func connectionDidFinish(_ connection: any ExchangeConnection)
    /// The connection takes no more exchanges, and closes when it carries none (GOAWAY, RFC 9113 §6.8).
    func connectionTakesNoMore(_ connection: any ExchangeConnection)
    /// The server takes requests over HTTP/1.1 only (GOAWAY with HTTP_1_1_REQUIRED, RFC 9113 §7).
    ///
    /// - Parameter connection: The connection.
    /// - Returns: Whether new connections to the server speak HTTP/1.1.
    func connectionRequiresHTTP1(_ connection: any ExchangeConnection) -> Bool
    /// The connection is closed; the exchanges that it carried have got their ends before.
    func connectionDidClose(_ connection: any ExchangeConnection)
}

/// Identifies a connection of a transport, from the moment on when it is being made.
struct ConnectionID: Hashable, Sendable {
    var number: UInt64

    /// Makes identities that differ from each other.
    struct Source {
        private var last: UInt64 = 0

        mutating func next() -> ConnectionID {
            last &+= 1
            return ConnectionID(number: last)
        }
    }
}
#endif
