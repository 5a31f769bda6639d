import Measuring
import NIOCore
import WaystationTestSupport

/// One connection of the server for HTTP/1.1.
final class HTTP1Server: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let seed: UInt64
    private var received = ByteBuffer()
    private var player: Player?
    private var hasStalled = false
    /// The path of the endless body that is being sent.
    private var endless: String?

    init(seed: UInt64) { self.seed = seed }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        // The client took what arrived for a whole response, and uses the connection again.
        if hasStalled { return context.close(promise: nil) }
        answer(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        player?.stop()
        if let endless { say("closed \(endless)") }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Answers the next request, if it has arrived and the one before is answered.
    private func answer(_ context: ChannelHandlerContext) {
        guard player == nil, let path = takeRequest() else { return }
        switch Answer(to: path, seed: seed, .http1) {
        case .script(let response): play(response.steps, response.ending, context)
        case .sound(let body):
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nCache-Control: max-age=9\r\n\r\n"
            play([.send(Array(head.utf8) + body)], .keep, context)
        case .endless(let path, let isStorable):
            endless = path
            let storing = isStorable ? "max-age=9" : "no-store"
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(1 << 50)\r\nCache-Control: \(storing)\r\n\r\n"
            let part = [UInt8](repeating: 0, count: 64 << 10)
            play([.send(Array(head.utf8)), .flood(part, times: .max)], .close, context)
        }
    }

    private func play(
        _ steps: [HostileResponse.Step],
        _ ending: HostileResponse.Ending,
        _ context: ChannelHandlerContext
    ) {
        player = Player(steps, on: context.channel) { [weak self] in
            guard let self else { return }
            switch ending {
            // Only the output, because a close with unread bytes resets the connection, and the client loses the end.
            case .close: context.close(mode: .output, promise: nil)
            case .stall: hasStalled = true
            case .keep:
                player = nil
                answer(context)
            }
        }
        player?.play()
    }

    /// Removes a request, which has no body, from what arrived; returns its path.
    private func takeRequest() -> String? {
        let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        let bytes = received.readableBytesView
        guard let start = bytes.firstRange(of: end) else { return nil }
        let head = String(decoding: bytes[..<start.lowerBound], as: UTF8.self)
        received.moveReaderIndex(to: start.upperBound)
        return head.split(separator: " ").dropFirst().first.map(String.init)
    }
}
