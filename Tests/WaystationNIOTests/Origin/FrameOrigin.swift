#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import NIOHPACK
import NIOPosix
import Synchronization
import WaystationTestSupport

@testable import WaystationNIO

/// A server that speaks HTTP/2 frame by frame: the test decides on the bytes that answer each request.
///
/// It acknowledges SETTINGS and PING, and grants window for the bodies that arrive.
final class FrameOrigin: Sendable {
    /// A request that has arrived whole.
    struct Request: Sendable {
        /// The number of its connection, from 0 on.
        var connection: Int
        var stream: UInt32
        var fields: [(name: String, value: String)]
        /// The sizes of the HEADERS frame and of the CONTINUATION frames.
        var frames: [Int]
        var body: [UInt8] = []

        func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        /// The value of `:path`.
        var path: String { value(":path") ?? "" }
    }

    /// The bytes that follow a request, and whether the connection ends after them.
    struct Answer: Sendable {
        var bytes: [UInt8]
        var closes = false

        init(_ frames: [UInt8]..., closes: Bool = false) {
            bytes = Array(frames.joined())
            self.closes = closes
        }

        static let none = Answer()
    }

    /// Yields the answer to the last of the requests that have arrived on a connection.
    typealias MakeAnswer = @Sendable ([Request]) -> Answer

    struct State {
        var connections = 0
        var requests: [Request] = []
        /// What was wrong with the bytes that clients sent.
        var mistakes: [String] = []
    }

    /// Holds what the server has seen.
    final class StateBox: Sendable {
        let value = Mutex(State())
    }

    /// Loops of its own, because a busy server must not hold up the engine.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    private let channel: any Channel
    private let state: StateBox
    let port: Int

    /// Starts a server on a free port of 127.0.0.1; clients need prior knowledge.
    ///
    /// - Parameters:
    ///   - settings: The pairs of the server's SETTINGS.
    ///   - answer: Called on the event loop of the connection.
    /// - Throws: An error if no socket can be opened.
    init(settings: [(UInt16, UInt32)] = [], _ answer: @escaping MakeAnswer) throws {
        let state = StateBox()
        let hello = RawFrames.settings(settings)
        channel = try ServerBootstrap(group: Self.group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = state.value.withLock { state in
                        defer { state.connections += 1 }
                        return state.connections
                    }
                    try channel.pipeline.syncOperations.addHandler(FrameHandler(number, hello, state, answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        self.state = state
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    var requests: [Request] { state.value.withLock { $0.requests } }
    var connectionCount: Int { state.value.withLock { $0.connections } }
    var mistakes: [String] { state.value.withLock { $0.mistakes } }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }
}

/// One connection of the server.
private final class FrameHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let number: Int
    private let hello: [UInt8]
    private let state: FrameOrigin.StateBox
    private let answer: FrameOrigin.MakeAnswer
    private var received = ByteBuffer()
    private var hasPreface = false
    private var decoder = HPACKDecoder(
        allocator: ByteBufferAllocator(),
        maxDynamicTableSize: 1 << 20,
        maxHeaderListSize: 1 << 20
    )
    /// The head whose block is not complete.
    private var block: (stream: UInt32, isLast: Bool, bytes: ByteBuffer, frames: [Int])?
    private var open: [UInt32: FrameOrigin.Request] = [:]
    private var requests: [FrameOrigin.Request] = []
    private var isOver = false

    init(
        _ number: Int,
        _ hello: [UInt8],
        _ state: FrameOrigin.StateBox,
        _ answer: @escaping FrameOrigin.MakeAnswer
    ) {
        self.number = number
        self.hello = hello
        self.state = state
        self.answer = answer
    }

    func channelActive(context: ChannelHandlerContext) { send(hello, context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        if !hasPreface {
            guard received.readableBytes >= 24 else { return }
            received.moveReaderIndex(forwardBy: 24)
            hasPreface = true
        }
        while !isOver, let frame = received.peekMultipleIntegers(as: (UInt16, UInt8, UInt8, UInt8, UInt32).self) {
            let length = Int(frame.0) << 8 | Int(frame.1)
            guard received.readableBytes >= 9 + length else { break }
            received.moveReaderIndex(forwardBy: 9)
            guard let payload = received.readSlice(length: length) else { break }
            take(frame.2, flags: frame.3, frame.4 & 0x7FFF_FFFF, payload, context)
        }
        received.discardReadBytes()
    }

    private func take(
        _ type: UInt8,
        flags: UInt8,
        _ stream: UInt32,
        _ payload: ByteBuffer,
        _ context: ChannelHandlerContext
    ) {
        if let block, type != 9 || block.stream != stream {
            return fail("A frame of type \(type) on \(stream) within the head of \(block.stream)", context)
        }
        switch type {
        case 0: takeData(payload, isLast: flags & 0x1 != 0, stream, context)
        case 1:
            block = (stream, flags & 0x1 != 0, payload, [payload.readableBytes])
            if flags & 0x4 != 0 { endHead(context) }
        case 3: open[stream] = nil
        case 4 where flags & 0x1 == 0: send(RawFrames.settingsAcknowledgement, context)
        case 6 where flags & 0x1 == 0: send(RawFrames.frame(6, flags: 0x1, Array(buffer: payload)), context)
        case 9:
            block?.bytes.writeImmutableBuffer(payload)
            block?.frames.append(payload.readableBytes)
            if flags & 0x4 != 0 { endHead(context) }
        default: break
        }
    }

    private func endHead(_ context: ChannelHandlerContext) {
        guard var whole = block else { return fail("CONTINUATION without a head", context) }
        block = nil
        do {
            let fields = try decoder.decodeHeaders(from: &whole.bytes).map { (name: $0.name, value: $0.value) }
            let request = FrameOrigin.Request(
                connection: number,
                stream: whole.stream,
                fields: fields,
                frames: whole.frames
            )
            if whole.isLast { reply(to: request, context) } else { open[whole.stream] = request }
        } catch {
            fail("A head that cannot be decoded: \(error)", context)
        }
    }

    private func takeData(_ bytes: ByteBuffer, isLast: Bool, _ stream: UInt32, _ context: ChannelHandlerContext) {
        let count = UInt32(bytes.readableBytes)
        if count > 0 { send(RawFrames.windowUpdate(0, count), context) }
        guard open[stream] != nil else { return }
        open[stream]?.body += Array(buffer: bytes)
        if isLast, let request = open.removeValue(forKey: stream) {
            reply(to: request, context)
        } else if count > 0 {
            send(RawFrames.windowUpdate(stream, count), context)
        }
    }

    private func reply(to request: FrameOrigin.Request, _ context: ChannelHandlerContext) {
        state.value.withLock { $0.requests.append(request) }
        requests.append(request)
        let answer = answer(requests)
        send(answer.bytes, context)
        if answer.closes { end(context) }
    }

    private func fail(_ mistake: String, _ context: ChannelHandlerContext) {
        state.value.withLock { $0.mistakes.append("\(mistake), connection \(number)") }
        end(context)
    }

    private func end(_ context: ChannelHandlerContext) {
        isOver = true
        context.close(promise: nil)
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        guard !bytes.isEmpty else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }
}

extension NIOTransport {
    /// A transport that speaks HTTP/2 to plain origins.
    ///
    /// - Parameter afterPause: Calls work after a pause that the engine has decided on; by default it calls it at once.
    /// - Returns: The transport.
    static func frames(
        afterPause: @escaping EngineParts.AfterPause = { _, _, work in work() }
    ) -> NIOTransport {
        var options = NIOOptions()
        options.environment = [:]
        options.httpVersions = .http2PriorKnowledge
        var parts = EngineParts.standard
        parts.afterPause = afterPause
        return NIOTransport(configuration: .ephemeral, options: options, parts: parts)
    }
}
#endif
