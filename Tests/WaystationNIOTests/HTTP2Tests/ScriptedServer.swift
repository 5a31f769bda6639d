#if NIO
import WaystationTestSupport
import NIOCore
import NIOEmbedded
import NIOHPACK
import Testing

@testable import WaystationNIO

/// A connection on a channel without a network; the test plays the server.
final class ScriptedServer {
    let channel = EmbeddedChannel()
    let owner = RecordingOwner()
    let connection: HTTP2Connection
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var hasPreface = false

    /// Connects; `settings` is what the server's first SETTINGS contain, or nil if it sends none.
    init(limits: HTTP2Limits = HTTP2Limits(), settings: [(UInt16, UInt32)]? = []) throws {
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        connection = try HTTP2Connection.make(channel: channel, owner: owner, limits: limits)
        _ = frames()
        guard let settings else { return }
        send(RawFrames.settings(settings) + RawFrames.settingsAcknowledgement)
        _ = frames()
    }

    /// Sends bytes to the client, as one read.
    func send(_ bytes: [UInt8]...) {
        for part in bytes where channel.isActive { channel.pipeline.fireChannelRead(ByteBuffer(bytes: part)) }
        if channel.isActive { channel.pipeline.fireChannelReadComplete() }
        channel.embeddedEventLoop.run()
    }

    /// The frames that the client sent since the last call.
    func frames() -> [SentFrame] {
        channel.embeddedEventLoop.run()
        var bytes: [UInt8] = []
        while let part = try? channel.readOutbound(as: ByteBuffer.self) { bytes += Array(buffer: part) }
        if !hasPreface, bytes.count >= 24 {
            hasPreface = true
            bytes.removeFirst(24)
        }
        return SentFrame.parse(bytes)
    }

    func fields(of frame: SentFrame) throws -> [String] {
        var block = ByteBuffer(bytes: frame.payload)
        return try decoder.decodeHeaders(from: &block).map { "\($0.name): \($0.value)" }
    }

    /// Begins an exchange; its request is sent.
    @discardableResult
    func begin(_ exchange: RecordingExchange = RecordingExchange()) -> RecordingExchange {
        connection.begin(exchange)
        channel.embeddedEventLoop.run()
        return exchange
    }

    func setWritable(_ isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.run()
    }

    static let ok = [(":status", "200")]
}

/// Records what a connection reports.
final class RecordingOwner: ConnectionOwner {
    private(set) var capacities: [Int] = []
    private(set) var closeCount = 0
    private(set) var http1RequirementCount = 0
    var didClose: (() -> Void)?

    func connection(_ connection: any ExchangeConnection, canTake count: Int) { capacities.append(count) }

    func connectionDidFinish(_ connection: any ExchangeConnection) {}

    func connectionTakesNoMore(_ connection: any ExchangeConnection) {}

    func connectionRequiresHTTP1(_ connection: any ExchangeConnection) -> Bool {
        http1RequirementCount += 1
        return true
    }

    func connectionDidClose(_ connection: any ExchangeConnection) {
        closeCount += 1
        didClose?()
    }
}

/// Records what an exchange gets, and sends a body if it has one.
final class RecordingExchange: ConnectionExchange {
    let requestHead: EngineRequestHead
    private(set) var head: EngineResponseHead?
    private(set) var body: [UInt8] = []
    /// The largest storage of a part of the body; the codec's buffer is part of it.
    private(set) var largestStorage = 0
    private(set) var ends: [ExchangeFailure?] = []
    private(set) var asked = 0
    private(set) var heads = 0
    /// What `take` returns for parts.
    var takesMore = true
    /// The exchange's reaction to a part.
    var didTake: (() -> Void)?
    /// The exchange's reaction to being asked for its body.
    var giveBody: (() -> Void)?

    init(
        _ method: String = "GET",
        _ framing: EngineRequestHead.Framing = .none,
        fields: [(name: String, value: String)] = []
    ) {
        requestHead = EngineRequestHead(
            method: method,
            scheme: "https",
            authority: "origin.test",
            target: "/a?b",
            fields: fields,
            framing: framing
        )
    }

    func take(_ head: EngineResponseHead) {
        self.head = head
        heads += 1
    }

    func take(_ part: ByteBuffer) -> Bool {
        body += Array(buffer: part)
        largestStorage = max(largestStorage, part.storageCapacity)
        didTake?()
        return takesMore
    }

    func needsBody() {
        asked += 1
        giveBody?()
    }

    func end(_ failure: ExchangeFailure?) { ends.append(failure) }

    /// Whether the exchange ended once, with a complete response.
    var isComplete: Bool { ends.count == 1 && ends[0] == nil }

    /// The failure, if the exchange ended once with one.
    var failure: ExchangeFailure? { ends.count == 1 ? ends[0] : nil }
}
#endif
