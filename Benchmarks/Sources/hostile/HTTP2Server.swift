import Measuring
import NIOCore
import NIOHPACK
import Synchronization
import WaystationTestSupport

/// One connection of the server for HTTP/2, with prior knowledge.
final class HTTP2Server: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let prefaceLength = 24

    /// The number of connections so far.
    private static let connections = Atomic(0)

    private let seed: UInt64
    private var received = ByteBuffer()
    private var hasPreface = false
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var players: [UInt32: Player] = [:]
    private var hasStalled = false
    private var endless: EndlessStream?
    /// The bytes that the client accepts on the connection, before the endless body begins.
    private var connectionWindow = 65_535

    init(seed: UInt64) { self.seed = seed }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        if !hasPreface {
            guard received.readSlice(length: Self.prefaceLength) != nil else { return }
            hasPreface = true
            // On most connections a response is alone, since it ends all others when it breaks the connection.
            let isShared = Self.connections.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 4)
            send(RawFrames.settings(isShared ? [] : [(3, 1)]), context)
        }
        while let frame = takeFrame() { receive(frame, context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        for player in players.values { player.stop() }
        endless?.end()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func takeFrame() -> SentFrame? {
        guard let header = received.getBytes(at: received.readerIndex, length: 9) else { return nil }
        let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        return received.readBytes(length: 9 + length).flatMap { SentFrame.parse($0).first }
    }

    private func receive(_ frame: SentFrame, _ context: ChannelHandlerContext) {
        switch frame.type {
        case 0x1:
            // The requests of the loads have one frame of fields each.
            var block = ByteBuffer(bytes: frame.payload)
            guard let fields = try? decoder.decodeHeaders(from: &block), let path = fields.first(name: ":path") else {
                return context.close(promise: nil)
            }
            answer(path, on: frame.id, context)
        case 0x3:
            players.removeValue(forKey: frame.id)?.stop()
            if endless?.id == frame.id { endless?.end() }
        case 0x4 where !frame.isLast:
            send(RawFrames.settingsAcknowledgement, context)
            endless?.receive(frame)
        case 0x6 where !frame.isLast: send(RawFrames.ping(isAcknowledgement: true), context)
        case 0x8:
            // A client grants most of its window at once, before its first request.
            if endless == nil, frame.id == 0 { connectionWindow += Int(frame.number()) }
            endless?.receive(frame)
        default: break
        }
    }

    private func answer(_ path: String, on id: UInt32, _ context: ChannelHandlerContext) {
        // A stream that stalls may have left a frame unfinished, so no other stream could get an answer.
        if hasStalled { return context.close(promise: nil) }
        switch Answer(to: path, seed: seed, .http2, on: id) {
        case .script(let response): play(response.steps, response.ending, on: id, context)
        case .sound(let body): play([.send(HostileHTTP2.valid(on: id, body))], .keep, on: id, context)
        case .endless(let path, _):
            send(RawFrames.headers(id, [(":status", "200")]), context)
            endless = EndlessStream(id, path, context.channel, connectionWindow: connectionWindow)
            endless?.play()
        }
    }

    private func play(
        _ steps: [HostileResponse.Step],
        _ ending: HostileResponse.Ending,
        on id: UInt32,
        _ context: ChannelHandlerContext
    ) {
        let player = Player(steps, on: context.channel) { [weak self] in
            guard let self else { return }
            players[id] = nil
            switch ending {
            case .keep: break
            case .stall where players.isEmpty: hasStalled = true
            // Only the output, because a close with unread bytes resets the connection, and the client loses the end.
            case .close, .stall: context.close(mode: .output, promise: nil)
            }
        }
        players[id] = player
        player.play()
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }
}
