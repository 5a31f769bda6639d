#if NIO
import NIOCore

/// The limits of one HTTP/2 connection (RFC 9113): each bounds the memory or the work that a server can cost.
struct HTTP2Limits: Equatable, Sendable {
    /// The largest table of a server for the fields of requests that is used (RFC 9113 §6.5.2).
    static let fieldTable = 64 << 10

    /// The number of exchanges on a connection at the same time.
    ///
    /// Default: 100, as in libcurl; the server's SETTINGS_MAX_CONCURRENT_STREAMS applies as well.
    var streams = 100
    /// The bytes of one response that may wait until its exchange takes them.
    ///
    /// Default: 1 MiB.
    var streamWindow = 1 << 20
    /// The bytes of all responses that may be on their way.
    ///
    /// Default: 16 MiB.
    var connectionWindow = 16 << 20
    /// The bytes of the fields of one head, with 32 bytes for each field (RFC 9113 §6.5.2).
    ///
    /// Default: 256 KiB.
    var headBytes = 256 << 10
    /// The number of fields in one head.
    ///
    /// Default: 1,000.
    var fields = 1000
    /// The number of CONTINUATION frames of one head.
    ///
    /// Default: 32, which suffices for 256 KiB in frames of 16 KiB.
    var continuationFrames = 32
    /// The number of interim responses (1xx) before the final one.
    ///
    /// Default: 32.
    var interimResponses = 32
    /// The time without a frame after which a connection with exchanges is probed by a PING.
    ///
    /// Default: 15 seconds.
    var pingAfter = TimeAmount.seconds(15)
    /// The longest such time, after several PINGs that were answered while nothing else arrived.
    ///
    /// Default: 5 minutes.
    var longestPingAfter = TimeAmount.minutes(5)
    /// The time in which a probed connection must show a sign of life.
    ///
    /// Default: 10 seconds.
    var pingTimeout = TimeAmount.seconds(10)
    /// The number of frames without content that a server may send in `floodInterval`.
    ///
    /// Default: 2,000; one more is accepted for every four bytes that were sent, because uploads and requests are
    /// answered by such frames.
    var framesWithoutContent = 2000
    /// The interval in which frames without content are counted.
    ///
    /// Default: 10 seconds.
    var floodInterval = TimeAmount.seconds(10)
}
#endif
