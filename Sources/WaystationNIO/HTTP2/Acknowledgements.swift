#if NIO
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The acknowledgements of the bytes that a connection has sent, as the system counts them (RFC 9293 §3.4).
///
/// An upload over a slow line has megabytes in the buffer of its socket. A PING is behind them, so its answer may take
/// minutes, but the server's system acknowledges the bytes all the time.
struct Acknowledgements: Equatable {
    /// The number of segments that were sent and have not been acknowledged.
    var missing: UInt32
    /// The time since the last acknowledgement.
    var age: TimeAmount

    /// Whether bytes are on their way, and some have arrived within a time.
    func areArriving(within time: TimeAmount) -> Bool { missing > 0 && age < time }
}

extension Acknowledgements {
    /// Asks the system about a channel's connection; nil if the system reports nothing.
    ///
    /// It must be called on the channel's event loop.
    init?(of channel: any Channel) {
        var answer: Acknowledgements?
        #if os(Linux)
        // On the event loop, the future is complete when the method returns.
        (channel as? any SocketOptionProvider)?.getTCPInfo().assumeIsolated().whenSuccess { info in
            answer = Acknowledgements(
                missing: info.tcpi_unacked,
                age: .milliseconds(Int64(info.tcpi_last_ack_recv))
            )
        }
        #endif
        guard let answer else { return nil }
        self = answer
    }
}
#endif
