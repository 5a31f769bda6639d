import Foundation
import Measuring
import NIOCore
import NIOHPACK
import Synchronization
import WaystationTestSupport

/// Plays the script of one connection.
final class HTTP2ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private struct Stream {
        var head = ""
        var path = ""
        var body = Fingerprint()
        var hasEnded = false
        var window: Int
    }

    private let script: [HTTP2Origin.Step]
    private let state: HTTP2Origin.State
    private var position = 0
    private var received: [UInt8] = []
    /// The number of bytes of the client's preface that have not arrived yet (RFC 9113, section 3.4).
    private var preface = 24
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var streams: [UInt32: Stream] = [:]
    /// The events that have happened, and that no step has waited for yet.
    private var heads = 0, requests = 0, pongs = 0
    private var bodyBytes = 0
    private var answers = false
    private var initialWindow = 65_535
    private var connectionWindow = 65_535
    private var bytesToSend: Int?

    init(_ script: [HTTP2Origin.Step], _ state: HTTP2Origin.State) {
        self.script = script
        self.state = state
    }

    func channelActive(context: ChannelHandlerContext) {
        play(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Array(buffer: unwrapInboundIn(data))[...]
        let skipped = min(preface, bytes.count)
        preface -= skipped
        bytes = bytes.dropFirst(skipped)
        received += bytes
        for frame in SentFrame.takeAll(from: &received) { receive(frame, context) }
        play(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func receive(_ frame: SentFrame, _ context: ChannelHandlerContext) {
        switch frame.type {
        case 0: receiveData(frame, context)
        case 1: receiveHead(frame, context)
        case 3: streams[frame.id] = nil
        case 4 where !frame.isAcknowledgement: receiveSettings(frame, context)
        case 6 where frame.isAcknowledgement: pongs += 1
        case 8 where frame.id == 0: connectionWindow += Int(frame.number())
        case 8: streams[frame.id]?.window += Int(frame.number())
        default: break
        }
    }

    private func receiveSettings(_ frame: SentFrame, _ context: ChannelHandlerContext) {
        for offset in stride(from: 0, to: frame.payload.count, by: 6)
        where frame.payload[offset] == 0 && frame.payload[offset + 1] == 4 {
            let window = Int(frame.number(at: offset + 2))
            for id in streams.keys { streams[id]?.window += window - initialWindow }
            initialWindow = window
        }
        send(RawFrames.settingsAcknowledgement, context)
    }

    private func receiveHead(_ frame: SentFrame, _ context: ChannelHandlerContext) {
        // Padding and priority come before the fields (RFC 9113, section 6.2).
        let padding = frame.flags & 0x8 == 0 ? nil : frame.payload.first
        let isPrioritized = frame.flags & 0x20 != 0
        let block = frame.payload.dropFirst((padding == nil ? 0 : 1) + (isPrioritized ? 5 : 0))
        var buffer = ByteBuffer(bytes: block.dropLast(Int(padding ?? 0)))
        guard let fields = try? decoder.decodeHeaders(from: &buffer) else { return context.close(promise: nil) }
        var stream = Stream(window: initialWindow)
        stream.path = fields.first(name: ":path") ?? ""
        let others = fields.filter { ![":method", ":path"].contains($0.name) }.map { "\($0.name): \($0.value)" }
        stream.head =
            "\(fields.first(name: ":method") ?? "") \(stream.path) {\(others.sorted().joined(separator: ", "))}"
        streams[frame.id] = stream
        heads += 1
        state.seen.withLock { $0.mostOpenStreams = max($0.mostOpenStreams, streams.count) }
        if frame.isLast { end(frame.id, context) }
    }

    private func receiveData(_ frame: SentFrame, _ context: ChannelHandlerContext) {
        bodyBytes += frame.payload.count
        streams[frame.id]?.body.append(Data(frame.payload))
        if frame.isLast { end(frame.id, context) }
    }

    private func end(_ id: UInt32, _ context: ChannelHandlerContext) {
        guard let stream = streams[id] else { return }
        requests += 1
        streams[id]?.hasEnded = true
        state.seen.withLock { $0.requests.append("\(stream.head) \(stream.body)") }
        if answers { answer(id, stream, context) }
    }

    private func answer(_ id: UInt32, _ stream: Stream, _ context: ChannelHandlerContext) {
        let fields = [(":status", "200"), ("content-type", "text/plain")]
        let body = Array("answer to \(stream.path)".utf8)
        send(RawFrames.headers(id, fields) + RawFrames.data(id, body, isLast: true), context)
        streams[id] = nil
    }

    /// Takes steps until one has to wait.
    private func play(_ context: ChannelHandlerContext) {
        while position < script.count, take(script[position], context) { position += 1 }
    }

    /// - Returns: Whether the step is done.
    private func take(_ step: HTTP2Origin.Step, _ context: ChannelHandlerContext) -> Bool {
        switch step {
        case .frames(let frames): send(Array(frames.joined()), context)
        case .head: return Self.takeOne(&heads)
        case .request: return Self.takeOne(&requests)
        case .data(let count): return bodyBytes >= count
        case .pong: return Self.takeOne(&pongs)
        case .body(let id, let count): return sendBody(on: id, count, context)
        case .answers: answers = true
        case .answersEnded:
            for (id, stream) in streams where stream.hasEnded { answer(id, stream, context) }
        case .close: context.close(promise: nil)
        }
        return true
    }

    private static func takeOne(_ count: inout Int) -> Bool {
        guard count > 0 else { return false }
        count -= 1
        return true
    }

    private func sendBody(on id: UInt32, _ count: Int, _ context: ChannelHandlerContext) -> Bool {
        var rest = bytesToSend ?? count
        while rest > 0, let window = streams[id]?.window, min(window, connectionWindow) > 0 {
            let size = min(rest, window, connectionWindow, 16_384)
            rest -= size
            streams[id]?.window -= size
            connectionWindow -= size
            let part = [UInt8](repeating: 0x61, count: size)
            send(RawFrames.data(id, part, isLast: rest == 0), context)
        }
        bytesToSend = rest == 0 ? nil : rest
        return rest == 0
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }
}
