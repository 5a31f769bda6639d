#if NIO
import NIOCore

/// Stands before the codec and stops floods of frames; it only carries out what the detector decides.
final class FloodGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var detector: FloodDetector
    private var hasFailed = false

    init(limits: HTTP2Limits) { detector = FloodDetector(limits: limits) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // The connection is being closed, so the bytes after a flood are dropped.
        guard !hasFailed else { return }
        guard let kind = detector.receive(unwrapInboundIn(data), now: context.eventLoop.now) else {
            return context.fireChannelRead(data)
        }
        hasFailed = true
        context.fireErrorCaught(HTTP2Flood(kind: kind))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        detector.send(unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }
}

/// A server sent too many frames without content.
struct HTTP2Flood: Error, Equatable {
    /// The kind of the frame that exceeded the limit, such as `PING`.
    var kind: String
}
#endif
