import Measuring
import NIOCore
import WaystationTestSupport

/// A body without an end on an HTTP/2 stream, which uses every window that the client grants.
final class EndlessStream {
    private static let partSize = 16_000

    let id: UInt32
    private let path: String
    private let channel: any Channel
    private var hasEnded = false
    private var isWriting = false
    /// The bytes that the engine accepts before it grants more: 1 MiB for a stream.
    private var windows: (stream: Int, connection: Int)

    init(_ id: UInt32, _ path: String, _ channel: any Channel, connectionWindow: Int) {
        windows = (1 << 20, connectionWindow)
        self.id = id
        self.path = path
        self.channel = channel
    }

    /// A window grew.
    func receive(_ frame: SentFrame) {
        guard frame.type == 0x8 else { return }
        if frame.id == id { windows.stream += Int(frame.number()) }
        if frame.id == 0 { windows.connection += Int(frame.number()) }
        play()
    }

    func play() {
        guard !hasEnded, !isWriting, min(windows.stream, windows.connection) >= Self.partSize else { return }
        isWriting = true
        windows.stream -= Self.partSize
        windows.connection -= Self.partSize
        let loop = channel.eventLoop
        let frame = RawFrames.data(id, [UInt8](repeating: 0, count: Self.partSize))
        channel.writeAndFlush(ByteBuffer(bytes: frame)).assumeIsolated().whenComplete { _ in
            loop.assumeIsolated().execute {
                self.isWriting = false
                self.play()
            }
        }
    }

    /// The client has reset the stream, or closed the connection.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        say("closed \(path)")
    }
}
