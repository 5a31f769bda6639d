#if NIO
import NIOCore

/// Decides when a quiet connection is probed by a PING (RFC 9113 §6.7), and when it counts as lost.
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

    init(limits: HTTP2Limits, now: NIODeadline) {
        self.limits = limits
        lastHeard = now
    }

    /// The server sent something, or an exchange began on a connection that had none.
    mutating func heard(now: NIODeadline) {
        lastHeard = now
        pingSent = nil
    }

    mutating func check(now: NIODeadline, hasStreams: Bool) -> Check {
        guard hasStreams else {
            pingSent = nil
            return .rest
        }
        if let pingSent {
            let end = pingSent + limits.pingTimeout
            return now >= end ? .lost : .wait(until: end)
        }
        let due = lastHeard + limits.pingAfter
        guard now >= due else { return .wait(until: due) }
        pingSent = now
        return .ping(until: now + limits.pingTimeout)
    }
}
#endif
