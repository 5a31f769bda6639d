#if DEBUG || TESTABLE
import Foundation
import NIOCore
import NIOEmbedded
@testable import WaystationNIO
import WaystationTestSupport

/// Sends frames to a connection of HTTP/2 that carries three exchanges: a GET, a HEAD and a POST.
///
/// The first byte chooses what the client does between the reads; the rest is cut into reads.
struct HTTP2Target: FuzzTarget {
    let maximumLength = 4 << 10

    func seeds() throws -> [Data] {
        var random = SeededGenerator(seed: 2)
        let settings = RawFrames.settings([(3, 2), (4, 1000)]) + RawFrames.settingsAcknowledgement
        let valid = [1, 3, 5].flatMap { HostileHTTP2.valid(on: $0) }
        let hostile = (0..<120).map { _ in HostileHTTP2.response(on: 1, to: "/", using: &random).bytes }
        return ([valid, RawFrames.goAway(last: 1) + valid] + hostile)
            .map { settings + $0 }
            .filter { $0.count < maximumLength }
            .enumerated()
            .map { Data([UInt8($0 & 0x1F)] + InputParts.input($1, by: $0.isMultiple(of: 2) ? 0 : 100)) }
    }

    /// Inserts, removes, repeats or damages one whole frame of an input that is one read.
    func mutated(_ input: [UInt8], using random: inout SeededGenerator) -> [UInt8]? {
        guard input.count > 11, input[1] == 0 else { return nil }
        var frames = SentFrame.parse(Array(input.dropFirst(2))).map {
            RawFrames.frame($0.type, flags: $0.flags, on: $0.id, $0.payload)
        }
        guard !frames.isEmpty else { return nil }
        let place = Int.random(in: frames.indices, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: frames.remove(at: place)
        case 1: frames.insert(frames[Int.random(in: frames.indices, using: &random)], at: place)
        case 2: frames.swapAt(place, Int.random(in: frames.indices, using: &random))
        case 3:
            let frame = HostileFrames.frame(using: &random)
            frames.insert(frame.count < 600 ? frame : RawFrames.ping(), at: place)
        default: frames[place] = Damage.damaged(frames[place], using: &random)
        }
        return Array(input.prefix(2)) + frames.joined()
    }

    func run(_ input: Data) throws {
        let input = [UInt8](input)
        guard let choice = input.first else { return }
        let channel = EmbeddedChannel()
        let owner = CheckedOwner()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        var limits = HTTP2Limits()
        limits.headBytes = 4096
        limits.fields = 16
        limits.interimResponses = 3
        limits.framesWithoutContent = 64
        let connection = try HTTP2Connection.make(channel: channel, owner: owner, limits: limits)
        let exchanges = [CheckedExchange(), CheckedExchange("HEAD"), CheckedExchange("POST", .unknownLength)]
        if choice & 1 != 0 { exchanges[0].partsUntilFull = 1 }
        for exchange in exchanges { connection.begin(exchange) }
        var length = 0
        for (number, part) in InputParts(input.dropFirst()).enumerated() where channel.isActive {
            length += part.count
            channel.pipeline.fireChannelRead(ByteBuffer(bytes: part))
            if channel.isActive { channel.pipeline.fireChannelReadComplete() }
            channel.embeddedEventLoop.run()
            if choice & 2 != 0 {
                connection.send(ByteBuffer(repeating: 1, count: 2000), isLast: false, of: exchanges[2])
            }
            if choice & 4 != 0, number == 1, exchanges[0].endCount == 0, !exchanges[0].isCancelled {
                exchanges[0].isCancelled = true
                connection.cancel(exchanges[0])
            }
            if choice & 8 != 0 { connection.resume(exchanges[0]) }
            if choice & 16 != 0 { channel.embeddedEventLoop.advanceTime(by: .seconds(4)) }
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
