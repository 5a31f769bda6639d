#if NIO
import NIOCore
import NIOHTTP1
import NIOSSL
import WaystationHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One HTTP/1.1 connection and the exchange on it, as a state machine without side effects (RFC 9112).
struct HTTP1State {
    /// How far the request has been sent.
    private enum Sending {
        case nothing
        /// `Expect: 100-continue` was sent, and the body waits for the answer (RFC 9110 §10.1.1).
        case awaitingContinue
        case body
        /// No more of the body is sent, although it is not complete.
        case stopped
        case complete
    }

    private enum Receiving {
        case nothing
        case awaitingHead(interims: Int)
        case body
    }

    /// The reaction to a head.
    enum Head: Equatable {
        /// Interim responses are not delivered (RFC 9110 §15.2).
        case skip
        /// 100: the body may be sent now.
        case startBody
        case deliver
        case fail(ExchangeFailure)
    }

    /// Whether the connection is kept or closed after a response.
    enum Afterwards: Equatable {
        case keep
        case close
    }

    private let interimLimit: Int
    private var sending = Sending.nothing
    private var receiving = Receiving.nothing
    private var mayBeKept = true
    private var closesWhenIdle = false

    init(interimLimit: Int) { self.interimLimit = interimLimit }

    /// Whether an exchange is on the connection.
    var isBusy: Bool {
        if case .nothing = receiving { return false }
        return true
    }

    /// Whether the head of the final response has arrived.
    var hasHead: Bool {
        if case .body = receiving { return true }
        return false
    }

    /// Whether parts of the request's body can be sent.
    var sendsBody: Bool { sending == .body }

    /// Whether the body waits for a 100 response.
    var awaitsContinue: Bool { sending == .awaitingContinue }

    /// A request is sent.
    mutating func begin(_ head: EngineRequestHead) {
        receiving = .awaitingHead(interims: 0)
        mayBeKept = !head.asksToClose
        switch head.framing {
        case .none, .length(0): sending = .complete
        case .length, .unknownLength: sending = head.expectsContinue ? .awaitingContinue : .body
        }
    }

    /// The last part of the body was sent.
    mutating func sentBody() {
        if sending == .body { sending = .complete }
    }

    /// The server gave no answer to `Expect: 100-continue` for a while: the body is sent without one.
    mutating func continueTimedOut() {
        if sending == .awaitingContinue { sending = .body }
    }

    /// A head arrived.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - isKeptAlive: Whether the server keeps the connection open (RFC 9112 §9.3).
    /// - Returns: The reaction.
    mutating func receiveHead(status: Int, isKeptAlive: Bool) -> Head {
        guard case .awaitingHead(let interims) = receiving else {
            return .fail(ExchangeFailure(.invalidResponse, "The server sent a response that no request asked for."))
        }
        switch status {
        case 101:
            return .fail(
                ExchangeFailure(
                    .invalidResponse,
                    "The server switched to another protocol (101) without being asked. "
                        + "Ask the server's operator to correct it."
                )
            )
        case 100..<200:
            guard interims < interimLimit else {
                return .fail(
                    ExchangeFailure(
                        .limitExceeded,
                        "The server sent more than \(interimLimit) interim responses (1xx). "
                            + "Raise interimResponses if the server must send so many."
                    )
                )
            }
            receiving = .awaitingHead(interims: interims + 1)
            guard status == 100, sending == .awaitingContinue else { return .skip }
            sending = .body
            return .startBody
        default:
            receiving = .body
            mayBeKept = mayBeKept && isKeptAlive
            stopSending(status)
            return .deliver
        }
    }

    /// The final response came before the body was complete: after a refusal, the rest is of no use to the server
    /// (RFC 9112 §9.5).
    private mutating func stopSending(_ status: Int) {
        switch sending {
        case .awaitingContinue: sending = .stopped
        case .body where status >= 400: sending = .stopped
        default: return
        }
    }

    /// The response is complete.
    mutating func receiveEnd() -> Afterwards {
        let isClean = sending == .complete && mayBeKept && !closesWhenIdle
        receiving = .nothing
        sending = .nothing
        return isClean ? .keep : .close
    }

    /// The connection takes no more exchanges.
    ///
    /// - Returns: Whether the connection is idle, so that it must be closed now.
    mutating func closeWhenIdle() -> Bool {
        closesWhenIdle = true
        return !isBusy
    }

    /// The exchange on it was taken away.
    mutating func abort() {
        receiving = .nothing
        sending = .nothing
        closesWhenIdle = true
    }
}

extension EngineRequestHead {
    /// Whether the request asks the server to close the connection (RFC 9112 §9.6).
    fileprivate var asksToClose: Bool { hasMember("close", in: "Connection") }

    /// Whether the body waits for a 100 response.
    fileprivate var expectsContinue: Bool { hasMember("100-continue", in: "Expect") }

    private func hasMember(_ member: String, in field: String) -> Bool {
        fields.contains { name, value in
            name.equalsIgnoringCase(field) && value.hasListMember(member)
        }
    }
}

extension ExchangeFailure {
    init(_ kind: Kind, _ explanation: String) {
        self.init(kind: kind, explanation: explanation)
    }
}

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
