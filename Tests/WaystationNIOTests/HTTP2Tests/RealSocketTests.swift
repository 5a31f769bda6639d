#if NIO
import NIOCore
import NIOPosix
import Testing

@testable import WaystationNIO

@Suite("HTTP/2 over real sockets")
struct RealSocketTests {
    @Test("Uploads and downloads at the same time arrive whole, with exchanges that pause", .timeLimit(.minutes(10)))
    func echo() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await HTTP2EchoServer.start(on: group)
        let loop = group.next()
        let address = try #require(server.address)
        let channel = try await ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
            .connect(to: address).get()
        let counts = try await loop.flatSubmit {
            let owner = RecordingOwner()
            do {
                let connection = try HTTP2Connection.make(channel: channel, owner: owner, limits: HTTP2Limits())
                let results = (0..<8).map { _ in
                    let exchange = EchoExchange(connection, loop, size: 3_000_000)
                    connection.begin(exchange)
                    return exchange.result.futureResult
                }
                // The owner must live as long as the exchanges.
                let kept = NIOLoopBound(owner, eventLoop: loop)
                return EventLoopFuture.whenAllSucceed(results, on: loop).map { counts in
                    withExtendedLifetime(kept) { counts }
                }
            } catch {
                return loop.makeFailedFuture(error)
            }
        }.get()
        #expect(counts == [Int](repeating: 3_000_000, count: 8))
        try await channel.close().get()
        try await server.stop()
        try await group.shutdownGracefully()
    }
}

/// Sends a body of unknown length, and counts what comes back if it is the same.
private final class EchoExchange: ConnectionExchange {
    let requestHead = EngineRequestHead(
        method: "POST",
        scheme: "http",
        authority: "127.0.0.1",
        target: "/",
        fields: [],
        framing: .unknownLength
    )
    let result: EventLoopPromise<Int>
    /// Bytes that repeat every 251, more than any part has.
    private static let pattern = (0..<100_000).map { UInt8($0 % 251) }

    private let connection: HTTP2Connection
    private let loop: any EventLoop
    private var rest: Int
    private var sent = 0
    private var received = 0
    private var isEqual = true
    private var partsUntilPause = 20

    init(_ connection: HTTP2Connection, _ loop: any EventLoop, size: Int) {
        self.connection = connection
        self.loop = loop
        rest = size
        result = loop.makePromise()
    }

    func needsBody() {
        let count = min(rest, 50_000)
        rest -= count
        let bytes = ByteBuffer(bytes: Self.pattern[(sent % 251)...].prefix(count))
        sent += count
        connection.send(bytes, isLast: rest == 0, of: self)
    }

    func take(_ head: EngineResponseHead) {}

    func take(_ part: ByteBuffer) -> Bool {
        let expected = Self.pattern[(received % 251)...].prefix(part.readableBytes)
        isEqual = isEqual && Array(buffer: part) == Array(expected)
        received += part.readableBytes
        partsUntilPause -= 1
        guard partsUntilPause == 0 else { return true }
        partsUntilPause = 20
        loop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { self.connection.resume(self) }
        return false
    }

    func end(_ failure: ExchangeFailure?) {
        if let failure { result.fail(failure) } else { result.succeed(isEqual ? received : -1) }
    }
}
#endif
