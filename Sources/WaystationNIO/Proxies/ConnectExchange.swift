#if NIO
import NIOCore
import WaystationHTTP

/// Opens a tunnel through an HTTP proxy, as a state machine without side effects (RFC 9110 §9.3.6).
struct ConnectExchange {
    enum Answer: Equatable {
        /// The head of the answer is not complete.
        case needsMore
        /// The tunnel is open; these bytes came through it already.
        case open(ByteBuffer)
        case refused(ConnectFailure)
    }

    /// The largest head that is accepted, in bytes, interim responses (1xx) included.
    static let maximumHead = 16 << 10

    private var received = ByteBuffer()
    private var skipped = 0
    /// The bytes of `received` that were searched for the end of a head; each is looked at once, however few arrive at
    /// a time.
    private var searched = 0
    /// How many bytes of that end the last of them are.
    private var matched = 0

    /// Makes the request.
    ///
    /// - Parameters:
    ///   - authority: The host and the port of the origin.
    ///   - authorization: The value of `Proxy-Authorization`, if there is one.
    ///   - via: The value of `Via`, if there is one.
    /// - Returns: The bytes to send, or nil if one of the values cannot be sent.
    static func request(authority: String, authorization: String?, via: String? = nil) -> ByteBuffer? {
        guard isLine(authority), !authority.contains(" "), isLine(authorization ?? ""), isLine(via ?? "") else {
            return nil
        }
        var text = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if let authorization { text += "Proxy-Authorization: \(authorization)\r\n" }
        if let via { text += "Via: \(via)\r\n" }
        text += "Proxy-Connection: Keep-Alive\r\n\r\n"
        return ByteBuffer(string: text)
    }

    private static func isLine(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    /// Bytes arrived from the proxy.
    mutating func receive(_ bytes: ByteBuffer) -> Answer {
        received.writeImmutableBuffer(bytes)
        while true {
            let room = Self.maximumHead - skipped
            guard let length = headLength(within: room) else {
                guard received.readableBytes < room else { return .refused(.headTooLarge) }
                return .needsMore
            }
            guard let head = received.readSlice(length: length) else { return .needsMore }
            guard let status = Self.status(head) else { return .refused(.notHTTP) }
            skipped += length
            switch status {
            // RFC 9110 §15.2: interim responses are skipped.
            case 100, 102..<200: continue
            // RFC 9110 §9.3.6: a 2xx has no body, whatever its fields say.
            case 200..<300: return .open(received)
            default: return .refused(.status(status))
            }
        }
    }

    /// The length of the first head, with the empty line that ends it.
    private mutating func headLength(within room: Int) -> Int? {
        let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        for byte in received.readableBytesView.prefix(room).dropFirst(searched) {
            searched += 1
            matched = byte == end[matched] ? matched + 1 : (byte == end[0] ? 1 : 0)
            guard matched == end.count else { continue }
            defer { (searched, matched) = (0, 0) }
            return searched
        }
        return nil
    }

    /// The status of a head that starts with `HTTP/1.` and three digits (RFC 9112 §4).
    private static func status(_ head: ByteBuffer) -> Int? {
        let bytes = Array(head.readableBytesView.prefix(13))
        guard bytes.count == 13, bytes.starts(with: Array("HTTP/1.".utf8)), bytes[8] == 0x20,
            bytes[12] == 0x20 || bytes[12] == 0x0D, bytes[9...11].isDecimal
        else { return nil }
        let status = bytes[9...11].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return status >= 100 ? status : nil
    }
}

/// Why a proxy opened no tunnel.
struct ConnectFailure: Error, Equatable, CustomStringConvertible {
    /// The reason, as a part of a sentence without a full stop: "the proxy answered …".
    var description: String

    static func status(_ status: Int) -> ConnectFailure {
        guard status == 407 else {
            return ConnectFailure(description: "the proxy answered CONNECT with the status \(status)")
        }
        return ConnectFailure(
            description: """
                the proxy answered CONNECT with the status 407, because it wants a user name and a password; put them \
                into https_proxy (http://user:password@host:port)
                """
        )
    }

    static let notHTTP = ConnectFailure(description: "the answer to CONNECT is not HTTP/1.1")
    static let headTooLarge = ConnectFailure(
        description: "the head of the answer to CONNECT is larger than \(ConnectExchange.maximumHead) bytes"
    )
    static let closed = ConnectFailure(description: "the proxy closed the connection instead of answering CONNECT")
    static let invalidRequest = ConnectFailure(
        description: "the host or the proxy's password contains characters that cannot be sent"
    )
}

/// Opens a tunnel on a channel that is connected to a proxy, then removes itself.
///
/// The time that this may take is limited by whoever closes the channel.
final class ConnectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let request: ByteBuffer
    private var exchange = ConnectExchange()
    /// Nil when the outcome was reported.
    private var promise: EventLoopPromise<Void>?
    private var early = ByteBuffer()

    private init(_ request: ByteBuffer, _ promise: EventLoopPromise<Void>) {
        self.request = request
        self.promise = promise
    }

    /// Opens a tunnel.
    ///
    /// It must be called on the channel's event loop.
    ///
    /// - Parameters:
    ///   - channel: A channel that is connected to the proxy. It may read by itself or not.
    ///   - authority: The host and the port of the origin.
    ///   - proxy: The proxy.
    /// - Returns: Succeeds when the channel carries the bytes of the tunnel. Handlers that are added in the same step,
    ///   in a callback of the future, get the bytes that have arrived already. On a `ConnectFailure`, the channel is
    ///   closed.
    static func open(on channel: any Channel, to authority: String, _ proxy: Route.Proxy) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        let request = ConnectExchange.request(
            authority: authority,
            authorization: proxy.authorization,
            via: proxy.via
        )
        guard let request else {
            promise.fail(ConnectFailure.invalidRequest)
            channel.close(promise: nil)
            return promise.futureResult
        }
        let handler = ConnectHandler(request, promise)
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            handler.finish(error)
        }
        return promise.futureResult
    }

    func handlerAdded(context: ChannelHandlerContext) {
        guard context.channel.isActive else {
            finish(ConnectFailure.closed)
            return context.close(promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) { finish(ConnectFailure.closed) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard promise != nil else { return context.fireChannelRead(data) }
        switch exchange.receive(unwrapInboundIn(data)) {
        case .needsMore: return
        case .open(let rest):
            early = rest
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        case .refused(let failure):
            finish(failure)
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard promise == nil else { return context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(ConnectFailure.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(error)
        context.close(promise: nil)
    }

    func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        let opened = promise
        promise = nil
        opened?.succeed(())
        if early.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(early))
            context.fireChannelReadComplete()
        }
        context.leavePipeline(removalToken: removalToken)
    }

    private func finish(_ error: any Error) {
        let failed = promise
        promise = nil
        failed?.fail(error)
    }
}
#endif
