#if NIO
import NIOCore
import Synchronization
import Testing

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
        let text = String(buffer: received)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return false }
        let head = String(text[..<end.lowerBound])
        var body = ""
        var taken = text[..<end.upperBound].utf8.count
        if withBody {
            let rest = text[end.upperBound...]
            if head.lowercased().contains("transfer-encoding: chunked") {
                guard let last = rest.firstRange(of: "0\r\n\r\n") else { return false }
                body = String(rest[..<last.upperBound])
            } else if let line = head.split(separator: "\r\n").first(where: {
                $0.lowercased().hasPrefix("content-length:")
            }) {
                let length = Int(line.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) ?? 0
                guard rest.utf8.count >= length else { return false }
                body = String(decoding: rest.utf8.prefix(length), as: UTF8.self)
            }
            taken += body.utf8.count
        }
        received.moveReaderIndex(forwardBy: taken)
        state.value.withLock { $0.requests.append(.init(connection: number, head: head, body: body)) }
        return true
    }
}

extension String {
    fileprivate func firstRange(of other: String) -> Range<Index>? {
        let pattern = Array(other.utf8)
        let bytes = Array(utf8)
        guard bytes.count >= pattern.count else { return nil }
        for start in 0...(bytes.count - pattern.count)
        where bytes[start..<(start + pattern.count)].elementsEqual(pattern) {
            let from = utf8.index(utf8.startIndex, offsetBy: start)
            return from..<utf8.index(from, offsetBy: pattern.count)
        }
        return nil
    }
}
#endif
