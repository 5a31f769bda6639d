#if NIO
import NIOCore
import WaystationHTTP
import Waystation

/// The life of one exchange, as a state machine without side effects.
struct ExchangeState {
    /// How often a request is sent again after a dropped connection, or to a server that refused it and answered nothing
    /// meanwhile; plain `URLSession` does the same.
    static let retryLimit = 5
    /// How often a request is sent again that a server refused while it answered others: it may be busy.
    static let busyLimit = 20
    /// How often a request is sent again whose connection ended after it had carried others.
    ///
    /// A server may take a few requests on each connection and refuse all the others that were sent with them, so one of
    /// many requests may have to change its connection many times.
    static let changeLimit = 100

    private enum Phase: Equatable {
        /// It waits for a connection.
        case queued
        case running(ConnectionID, isReused: Bool)
        /// The connection has finished it, or it failed: its end is delivered next.
        case ended
        case cancelled
    }

    /// The place that an exchange must leave when it ends early.
    enum Leave: Equatable {
        case nothing
        case leaveQueue
        case leaveConnection(ConnectionID)
    }

    /// The reaction to the end that a connection reports.
    enum End: Equatable {
        case ignore
        case complete
        /// The request is sent again after a pause.
        case retry(after: TimeAmount)
        case fail(TransportFailure)
    }

    /// The reaction to a head.
    enum Head: Equatable {
        case ignore
        case deliver
        case fail(TransportFailure)
    }

    /// Whether the method may be sent again when it is unknown whether the server acted on it (RFC 9110 §9.2.2).
    private let isIdempotent: Bool
    private var phase = Phase.queued
    private var retries = 0
    private var refusals = 0
    private var fruitlessRefusals = 0
    private var changes = 0
    private(set) var hasHead = false
    private(set) var isPaused = false

    init(method: String) {
        isIdempotent = Methods.isIdempotent(method)
    }

    /// Whether the exchange waits for a connection.
    var isQueued: Bool { phase == .queued }

    /// The connection that carries the exchange.
    var connection: ConnectionID? {
        guard case .running(let connection, _) = phase else { return nil }
        return connection
    }

    /// Whether nothing more is sent or received for it.
    var isOver: Bool { phase == .ended || phase == .cancelled }

    var isCancelled: Bool { phase == .cancelled }

    /// A connection will carry the exchange.
    ///
    /// - Returns: False if the exchange does not wait for a connection any more.
    mutating func begin(on connection: ConnectionID, isReused: Bool) -> Bool {
        guard phase == .queued else { return false }
        phase = .running(connection, isReused: isReused)
        return true
    }

    /// The head of the final response arrived.
    mutating func receiveHead(status: Int) -> Head {
        guard case .running = phase, !hasHead else { return .ignore }
        guard (100...999).contains(status) else {
            return .fail(
                TransportFailure(
                    .unsupportedURL,
                    "The server answered with status \(status), but statuses are 100 to 999. "
                        + "Ask the server's operator to correct it."
                )
            )
        }
        hasHead = true
        return .deliver
    }

    /// The connection reports the end of the exchange.
    ///
    /// - Parameters:
    ///   - failure: The reason why it failed, or nil if the response is complete.
    ///   - isRepeatable: Whether the body can be sent a second time.
    /// - Returns: The reaction.
    mutating func end(_ failure: ExchangeFailure?, isRepeatable: Bool) -> End {
        guard case .running(_, let isReused) = phase else { return .ignore }
        guard let failure else {
            phase = .ended
            return .complete
        }
        if !hasHead, isRepeatable, let pause = retry(failure, isReused: isReused) {
            phase = .queued
            return .retry(after: pause)
        }
        phase = .ended
        return .fail(TransportFailure(failure, hasHead: hasHead))
    }

    /// Whether a request whose response has begun may be sent once more for another form of the response.
    ///
    /// - Parameter isRepeatable: Whether the body can be sent a second time.
    /// - Returns: Whether it may.
    func mayBeRepeated(isRepeatable: Bool) -> Bool { connection != nil && isIdempotent && isRepeatable }

    /// The exchange leaves its connection, and waits for another one.
    mutating func restart() -> Leave {
        hasHead = false
        return leave(.queued)
    }

    /// Counts a further try, if there may be one.
    ///
    /// - Returns: The pause before it, or nil.
    private mutating func retry(_ failure: ExchangeFailure, isReused: Bool) -> TimeAmount? {
        switch failure.unprocessed {
        case .connectionEnded:
            changes += 1
            return changes <= Self.changeLimit ? .zero : nil
        case .othersAnswered:
            refusals += 1
            return refusals <= Self.busyLimit ? Self.pause(before: refusals) : nil
        case .nothingAnswered:
            refusals += 1
            fruitlessRefusals += 1
            guard fruitlessRefusals <= Self.retryLimit, refusals <= Self.busyLimit else { return nil }
            return Self.pause(before: refusals)
        case nil: break
        }
        if failure.suggestsRetry, isIdempotent {
            retries += 1
            return retries <= Self.retryLimit ? Self.pause(before: retries) : nil
        }
        // A server may close a kept connection at any time, even while a request is on its way (RFC 9112 §9.3.1).
        guard failure.isLoss, isReused, isIdempotent || failure.isUnanswered else { return nil }
        retries += 1
        return retries <= Self.retryLimit ? .zero : nil
    }

    /// The pause before a further try, by its number: none, then 100 ms, doubled with each one up to a second.
    private static func pause(before number: Int) -> TimeAmount {
        number <= 1 ? .zero : .milliseconds(min(1000, 50 << Int64(min(number - 1, 10))))
    }

    /// The exchange fails for a reason of its own, such as a time-out.
    mutating func fail() -> Leave { leave(.ended) }

    mutating func cancel() -> Leave {
        defer { phase = .cancelled }
        return leave(.cancelled)
    }

    private mutating func leave(_ next: Phase) -> Leave {
        switch phase {
        case .queued:
            phase = next
            return .leaveQueue
        case .running(let connection, _):
            phase = next
            return .leaveConnection(connection)
        case .ended, .cancelled:
            return .nothing
        }
    }

    mutating func pause() { isPaused = true }

    mutating func resume() { isPaused = false }
}

extension ExchangeFailure {
    /// Whether the connection was lost, so that the server may not have got the request.
    fileprivate var isLoss: Bool { kind == .connectionLost || kind == .connectionReset }
}

extension TransportFailure {
    /// The failure of a connection, with the code that plain `URLSession` reports for it.
    init(_ failure: ExchangeFailure, hasHead: Bool) {
        switch failure.kind {
        case .connectionLost:
            // libcurl calls the first an empty reply; Foundation has a code for that, but none for the second.
            self.init(hasHead ? .unknown : .badServerResponse, failure.explanation)
        case .connectionReset: self.init(.networkConnectionLost, failure.explanation)
        case .notHTTP: self.init(.unsupportedURL, failure.explanation)
        case .invalidResponse, .limitExceeded, .invalidRequest: self.init(.unknown, failure.explanation)
        case .reported(let failure): self = failure
        }
    }
}
#endif
