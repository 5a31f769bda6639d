#if NIO
import NIOCore

/// Stands before the codec, stops floods of frames, and passes whole frames apart from the beginning of the next one.
///
/// The codec keeps every byte that it has read until its buffer is empty at the end of a frame. Without the separation, a
/// server whose frames never end where a read ends would make that buffer grow by all that it sends.
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
        var bytes = unwrapInboundIn(data)
        if let kind = detector.receive(bytes, now: context.eventLoop.now) {
            hasFailed = true
            return context.fireErrorCaught(HTTP2Flood(kind: kind))
        }
        let whole = bytes.readableBytes - detector.begun
        if detector.begun > 0, whole > 0, let frames = bytes.readSlice(length: whole) {
            context.fireChannelRead(wrapInboundOut(frames))
        }
        context.fireChannelRead(wrapInboundOut(bytes))
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
