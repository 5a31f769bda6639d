#if NIO
import WaystationTestSupport
import NIOCore
import NIOEmbedded
import Testing
@_spi(Hostile) import WaystationTesting

@testable import WaystationNIO

@Suite("Hostile frames")
struct HostileFrameTests {
    @Test("Random frames end every exchange at most once, with no crash and no endless loop", arguments: 1...20)
    func randomFrames(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var rest = 300
        while rest > 0 {
            let server = try ScriptedServer(settings: Bool.random(using: &generator) ? [(3, 5), (4, 1000)] : nil)
            var exchanges: [RecordingExchange] = []
            while server.channel.isActive, rest > 0 {
                rest -= 1
                act(server, &exchanges, &generator)
                var bytes = HostileFrames.frame(using: &generator)
                if Int.random(in: 0..<20, using: &generator) == 0 {
                    let place = Int.random(in: bytes.indices, using: &generator)
                    bytes[place] = .random(in: 0...255, using: &generator)
                }
                server.send(bytes)
                _ = server.frames()
            }
            check(server, exchanges)
        }
    }

    private func check(_ server: ScriptedServer, _ exchanges: [RecordingExchange]) {
        try? server.channel.close().wait()
        server.channel.embeddedEventLoop.run()
        #expect(server.owner.closeCount == 1)
        for exchange in exchanges {
            #expect(exchange.heads <= 1)
            #expect(exchange.ends.count == (exchange.didTake == nil ? 1 : 0))
        }
    }

    /// A call of the engine between two frames.
    ///
    /// Cancelled exchanges are marked by `didTake`.
    private func act(
        _ server: ScriptedServer,
        _ exchanges: inout [RecordingExchange],
        _ generator: inout SeededGenerator
    ) {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0...1:
            let hasBody = Bool.random(using: &generator)
            let exchange = RecordingExchange(hasBody ? "POST" : "GET", hasBody ? .unknownLength : .none)
            exchange.takesMore = Bool.random(using: &generator)
            exchanges.append(exchange)
            server.begin(exchange)
        case 2:
            guard let exchange = exchanges.randomElement(using: &generator), exchange.ends.isEmpty else { return }
            exchange.didTake = {}
            server.connection.cancel(exchange)
        case 3:
            guard let exchange = exchanges.randomElement(using: &generator) else { return }
            server.connection.resume(exchange)
        case 4:
            guard let exchange = exchanges.randomElement(using: &generator) else { return }
            let part = ByteBuffer(repeating: 1, count: .random(in: 0...40_000, using: &generator))
            server.connection.send(part, isLast: Bool.random(using: &generator), of: exchange)
        case 5: server.setWritable(Bool.random(using: &generator))
        default:
            server.channel.embeddedEventLoop.advanceTime(by: .milliseconds(.random(in: 0...500, using: &generator)))
        }
    }
}
#endif
