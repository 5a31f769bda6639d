#if DEBUG || TESTABLE
import Foundation
import NIOCore
import NIOEmbedded
@testable import WaystationNIO
import WaystationTestSupport

/// Sends bytes to a connection of HTTP/1.1 on which one exchange waits, and perhaps a second one after it.
///
/// The first byte chooses the requests; the rest is cut into reads.
struct HTTP1Target: FuzzTarget {
    let maximumLength = 4 << 10
    private let methods = ["GET", "HEAD", "POST", "CONNECT"]

    func seeds() throws -> [Data] {
        var random = SeededGenerator(seed: 1)
        let responses = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.0 200 OK\r\n\r\nuntil the end",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: 1\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        ].map { Array($0.utf8) }
        let hostile = (0..<100).map { _ in HostileHTTP1.response(to: "/", using: &random).bytes }
        return (responses + hostile).filter { $0.count < maximumLength }.enumerated().map { number, bytes in
            Data([UInt8(number & 0x3F)] + InputParts.input(bytes, by: [0, 1, 50][number % 3]))
        }
    }

    func run(_ input: Data) throws {
        let input = [UInt8](input)
        guard let choice = input.first else { return }
        let channel = EmbeddedChannel()
        let owner = CheckedOwner()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var limits = NIOOptions.Limits()
        limits.headBytes = 1024
        limits.fields = 16
        limits.interimResponses = 3
        let connection = try HTTP1Connection.make(
            channel: channel,
            owner: owner,
            limits: limits,
            continueTimeout: .seconds(1)
        )
        let method = methods[Int(choice & 3)]
        var exchanges = [CheckedExchange(method, method == "POST" ? .length(9) : .none)]
        exchanges[0].partsUntilFull = choice & 4 == 0 ? .max : 2
        connection.begin(exchanges[0])
        var length = 0
        for part in InputParts(input.dropFirst()) where channel.isActive {
            length += part.count
            channel.pipeline.fireChannelRead(ByteBuffer(bytes: part))
            channel.pipeline.fireChannelReadComplete()
            channel.embeddedEventLoop.run()
            if choice & 8 != 0 { channel.embeddedEventLoop.advanceTime(by: .seconds(2)) }
            connection.resume(exchanges[exchanges.count - 1])
            // The connection is free again: another request follows on it.
            let isFree = channel.isActive && owner.capacity == 1 && exchanges.allSatisfy { $0.endCount == 1 }
            if isFree, exchanges.count < 4 {
                exchanges.append(CheckedExchange())
                connection.begin(exchanges[exchanges.count - 1])
            }
        }
        if choice & 16 != 0, let last = exchanges.last, last.endCount == 0 {
            last.isCancelled = true
            connection.cancel(last)
        }
        try? channel.close().wait()
        channel.embeddedEventLoop.run()
        for exchange in exchanges { try exchange.finish() }
        try Finding.unless(owner.closeCount == 1, "the connection closed \(owner.closeCount) times")
        try Finding.unless(exchanges.reduce(0) { $0 + $1.bodyLength } <= length, "a body has more bytes than arrived")
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}
#endif
