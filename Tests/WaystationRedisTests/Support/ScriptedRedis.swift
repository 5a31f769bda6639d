#if Redis
import NIOCore
import NIOPosix
import Synchronization

@testable import WaystationRedis

/// A server on loopback that answers commands as a test scripts it; it ends with the process.
final class ScriptedRedis: Sendable {
    /// Returns the reply to a command, in Redis' protocol; nil for none at all.
    typealias Script = @Sendable (_ words: [String]) -> String?

    private let channel: any Channel
    private let seen: Seen

    /// - Parameters:
    ///   - greets: Whether each `HELLO` is answered without the script.
    ///   - script: The replies to the other commands.
    /// - Throws: The error of listening.
    init(greets: Bool = true, _ script: @escaping Script) async throws {
        let seen = Seen()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer(greets, script, seen))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        self.seen = seen
    }

    /// The port on `127.0.0.1`.
    var port: Int { channel.localAddress?.port ?? 0 }

    /// The URL of the server.
    var url: String { "redis://127.0.0.1:\(port)" }

    /// The commands that have arrived, apart from greetings that were answered without the script.
    var commands: [[String]] { seen.all }

    /// The first word of each command that arrives, and `closed` for each connection that ends; for one reader.
    var events: AsyncStream<String> { seen.events }

    /// Sends bytes, in Redis' protocol, to each connection that has sent a command with a first word.
    func answer(_ word: String, _ reply: String) {
        for sender in seen.senders(of: word) { sender.writeAndFlush(ByteBuffer(string: reply), promise: nil) }
    }

    /// Sends a message, in Redis' protocol, to all connections that have subscribed to a channel.
    func push(_ message: String) { answer("SUBSCRIBE", message) }

    func stop() async throws { try await channel.close() }

    private final class Seen: Sendable {
        private let state = Mutex<[(words: [String], sender: any Channel)]>([])
        private let occurred = AsyncStream<String>.makeStream()

        var all: [[String]] { state.withLock { $0.map(\.words) } }

        var events: AsyncStream<String> { occurred.stream }

        func senders(of word: String) -> [any Channel] {
            state.withLock { $0.filter { $0.words.first == word }.map(\.sender) }
        }

        func add(_ words: [String], from channel: any Channel) {
            state.withLock { $0.append((words, channel)) }
            occurred.continuation.yield(words.first ?? "")
        }

        func close() {
            occurred.continuation.yield("closed")
        }
    }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let greets: Bool
        private let script: Script
        private let seen: Seen
        private var parser = RESPParser()

        init(_ greets: Bool, _ script: @escaping Script, _ seen: Seen) {
            self.greets = greets
            self.script = script
            self.seen = seen
        }

        func channelInactive(context: ChannelHandlerContext) {
            seen.close()
            context.fireChannelInactive()
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            parser.append(unwrapInboundIn(data))
            while let value = try? parser.next() {
                let words = value.elements?.compactMap(\.string) ?? []
                let reply: String?
                if greets, words.first == "HELLO" {
                    reply = "%0\r\n"
                } else {
                    seen.add(words, from: context.channel)
                    reply = script(words)
                }
                guard let reply else { continue }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: reply)), promise: nil)
            }
        }
    }
}
#endif
