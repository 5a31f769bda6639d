#if NIO
import Foundation
import Glibc
import NIOCore
import NIOSSL
import Synchronization
import Testing
import WaystationHTTP

/// Plays the script of one connection.
final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let number: Int
    private let script: [RawOrigin.Step]
    private let state: RawOrigin.StateBox
    private var position = 0
    private var received = ByteBuffer()
    private var isWaiting = false
    private var context: ChannelHandlerContext?

    init(_ number: Int, _ script: [RawOrigin.Step], _ state: RawOrigin.StateBox) {
        self.number = number
        self.script = script
        self.state = state
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        play()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        if !isWaiting { play() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state.value.withLock { $0.closed += 1 }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func play() {
        while let context, position < script.count {
            switch script[position] {
            case .request: guard takeRequest(withBody: true) else { return }
            case .requestHead: guard takeRequest(withBody: false) else { return }
            case .send(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            case .sendBytes(let bytes): context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .stopReading: setReading(false, context)
            case .startReading: setReading(true, context)
            case .open(let gate): gate.open()
            case .close: context.close(promise: nil)
            case .cut:
                let pipeline = context.pipeline.syncOperations
                (try? pipeline.context(handlerType: NIOSSLServerHandler.self))?.close(promise: nil)
            case .reset:
                let channel = context.channel
                // A socket that may not linger is closed with RST.
                let socket = channel as? any SocketOptionProvider
                socket?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in channel.close(promise: nil) }
                return
            case .endSending: context.close(mode: .output, promise: nil)
            case .again:
                position = 0
                continue
            case .flood(let text, let times):
                isWaiting = true
                position += 1
                return flood(ByteBuffer(string: text), times)
            case .gate(let gate):
                isWaiting = true
                position += 1
                let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
                let loop = context.eventLoop
                return gate.whenOpen { loop.execute { bound.value.goOn() } }
            }
            position += 1
        }
    }

    private func setReading(_ reads: Bool, _ context: ChannelHandlerContext) {
        context.channel.setOption(.autoRead, value: reads).whenFailure { Issue.record("autoRead cannot be set: \($0)") }
    }

    private func goOn() {
        isWaiting = false
        play()
    }

    private func flood(_ part: ByteBuffer, _ times: Int) {
        guard times > 0, let context else { return goOn() }
        context.writeAndFlush(wrapOutboundOut(part)).assumeIsolated().whenComplete { result in
            guard case .success = result else { return }
            self.state.value.withLock { $0.floodedBytes += part.readableBytes }
            context.eventLoop.assumeIsolated().execute { self.flood(part, times - 1) }
        }
    }

    private func takeRequest(withBody: Bool) -> Bool {
        let bytes = Data(received.readableBytesView)
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return false }
        let head = FieldText.text(of: bytes[..<end.lowerBound])
        var body = bytes[end.upperBound...].prefix(0)
        if withBody {
            let rest = bytes[end.upperBound...]
            if head.lowercased().contains("transfer-encoding: chunked") {
                guard let last = rest.range(of: Data("0\r\n\r\n".utf8)) else { return false }
                body = rest[..<last.upperBound]
            } else if let line = head.split(separator: "\r\n").first(where: {
                $0.lowercased().hasPrefix("content-length:")
            }) {
                let length = Int(line.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) ?? 0
                guard rest.count >= length else { return false }
                body = rest.prefix(length)
            }
        }
        received.moveReaderIndex(forwardBy: end.upperBound + body.count)
        let request = RawOrigin.Request(connection: number, head: head, body: String(decoding: body, as: UTF8.self))
        state.value.withLock { $0.requests.append(request) }
        return true
    }
}
#endif
