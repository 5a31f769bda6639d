#if NIO
import NIOCore

/// Decides when a quiet connection is probed by a PING (RFC 9113 §6.7), and when it counts as lost.
///
/// While a server sends nothing but its answers to PINGs, each PING comes after twice the time of the one before: servers
/// that count PINGs close a connection that sends them every few seconds, though a response may take minutes.
///
/// While the server's system takes the bytes of an upload, the connection is alive, and a PING would wait behind them.
struct QuietWatch {
    enum Check: Equatable {
        /// Check again then.
        case wait(until: NIODeadline)
        /// Send a PING, and check again then.
        case ping(until: NIODeadline)
        /// The PING was not answered.
        case lost
        /// No exchange waits for a response, so nothing needs to be checked.
        case rest
    }

    private let limits: HTTP2Limits
    private var lastHeard: NIODeadline
    private var pingSent: NIODeadline?
    private var pingAfter: TimeAmount

    init(limits: HTTP2Limits, now: NIODeadline) {
        self.limits = limits
        lastHeard = now
        pingAfter = limits.pingAfter
    }

    /// The server sent something, or an exchange began on a connection that had none.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - isPingAnswer: Whether the server sent answers to PINGs and nothing else.
    mutating func heard(now: NIODeadline, isPingAnswer: Bool = false) {
        lastHeard = now
        if !isPingAnswer {
            pingAfter = limits.pingAfter
        } else if pingSent != nil {
            pingAfter = min(pingAfter * 2, max(limits.pingAfter, limits.longestPingAfter))
        }
        pingSent = nil
    }

    /// Decides what to do now.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - hasStreams: Whether exchanges wait for responses.
    ///   - isSending: Whether the server's system takes bytes; it is asked only when nothing was heard for a while.
    /// - Returns: The decision.
    mutating func check(now: NIODeadline, hasStreams: Bool, isSending: @autoclosure () -> Bool = false) -> Check {
        guard hasStreams else {
            pingSent = nil
            return .rest
        }
        if let pingSent {
            let end = pingSent + limits.pingTimeout
            guard now >= end else { return .wait(until: end) }
            guard isSending() else { return .lost }
            self.pingSent = now
            return .wait(until: now + limits.pingTimeout)
        }
        let due = lastHeard + pingAfter
        guard now >= due else { return .wait(until: due) }
        guard !isSending() else {
            lastHeard = now
            return .wait(until: now + pingAfter)
        }
        pingSent = now
        return .ping(until: now + limits.pingTimeout)
    }
}
#endif
