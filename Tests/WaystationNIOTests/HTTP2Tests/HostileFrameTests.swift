#if NIO
import NIOCore
import NIOEmbedded
import Testing

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
                var bytes = frame(&generator)
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

    private func frame(_ generator: inout SeededGenerator) -> [UInt8] {
        let id = UInt32.random(in: 0...9, using: &generator) | (Int.random(in: 0..<9, using: &generator) == 0 ? 0 : 1)
        let numbers: [UInt32] = [0, 1, 100, 16_384, 65_535, 0x7FFF_FFFF, .random(in: 0...(.max), using: &generator)]
        let number = numbers.randomElement(using: &generator) ?? 0
        let isLast = Int.random(in: 0..<4, using: &generator) == 0
        switch Int.random(in: 0..<24, using: &generator) {
        case 0...6:
            let fields = [
                [(":status", "200")], [(":status", "200"), ("content-length", "3")], [(":status", "103")], [("x", "y")],
                [(":status", "204")], [(":status", "1")], [],
            ]
            return RawFrames.headers(id, fields.randomElement(using: &generator) ?? [], isLast: isLast)
        case 7...13:
            let count = Int.random(in: 0...16_000, using: &generator)
            let padding =
                Int.random(in: 0..<4, using: &generator) == 0 ? Int.random(in: 0...255, using: &generator) : nil
            return RawFrames.data(id, [UInt8](repeating: 0, count: count), isLast: isLast, padding: padding)
        case 14: return RawFrames.reset(id, number)
        case 15...16: return RawFrames.settings([(.random(in: 1...9, using: &generator), number)])
        case 17: return RawFrames.settingsAcknowledgement
        case 18: return RawFrames.ping(isAcknowledgement: isLast)
        case 19...20: return RawFrames.windowUpdate(id, number)
        case 21 where isLast: return RawFrames.goAway(last: id, number)
        case 22 where isLast: return RawFrames.frame(5, flags: 4, on: id, RawFrames.number(number))
        default:
            let count = Int.random(in: 0...40, using: &generator)
            let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            return RawFrames.frame(
                .random(in: 0...20, using: &generator),
                flags: .random(in: 0...255, using: &generator),
                on: id,
                payload
            )
        }
    }
}
#endif
