#if NIO
import Foundation
import NIOCore
import Testing
import WaystationArchive

@testable import WaystationNIO

@Suite("Nested content codings")
struct NestedCodingTests {
    /// Writes so many zeros for each byte.
    private final class Expander: ContentCodec {
        let name = "expander"
        var isComplete: Bool { left == 0 }
        private let times: Int
        private var left = 0

        init(times: Int) { self.times = times }

        func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodecProgress {
            let taken = left == 0 ? min(1, input.count) : 0
            left += taken * times
            let written = min(left, output.count)
            output.prefix(written).initializeMemory(as: UInt8.self, repeating: 0)
            left -= written
            return CodecProgress(taken: taken, written: written)
        }
    }

    /// Takes everything and writes nothing, but counts.
    private final class Swallower: ContentCodec {
        let name = "swallower"
        let isComplete = true
        private(set) var count = 0

        func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> CodecProgress {
            count += input.count
            return CodecProgress(taken: input.count, written: 0)
        }
    }

    private func decoder(
        _ codecs: [any ContentCodec],
        _ limits: DecodingLimits = DecodingLimits(handedOnRatio: .max)
    ) -> StagedDecoder {
        StagedDecoder(codecs.map { DecodingStage($0) }, limits: limits)
    }

    @Test("stop for a turn of the loop after 256 KiB that decoded to nothing, and continue afterwards")
    func turns() throws {
        let swallower = Swallower()
        var decoder = decoder([Expander(times: 1 << 20), swallower])
        decoder.append(ByteBuffer(bytes: [1]))
        for turn in 1...4 {
            #expect(try decoder.next()?.isEmpty == true)
            // The piece that was handed on last is taken in the next turn.
            #expect(swallower.count == (turn * 256 << 10) - DecodingStage.pieceSize)
        }
        #expect(try decoder.next() == nil)
        #expect(swallower.count == 1 << 20)
        try decoder.finish()
    }

    @Test("may hand on 1 MiB to each other, or 16 times the bytes that arrived", arguments: [1, 200_000])
    func handedOn(arrived: Int) throws {
        let swallower = Swallower()
        var decoder = decoder([Expander(times: 8 << 20), swallower], DecodingLimits())
        decoder.append(ByteBuffer(repeating: 1, count: arrived))
        let failure = #expect(throws: DecodingFailure.self) {
            while let data = try decoder.next() { #expect(data.isEmpty) }
        }
        #expect(failure?.coding == "expander")
        #expect(swallower.count <= max(1 << 20, 16 * arrived))
        #expect(swallower.count > max(1 << 20, 16 * arrived) - DecodingStage.pieceSize)
    }

    @Test("deliver the same bytes in more than one turn")
    func deliversAll() throws {
        // The inner coding expands only what the outer one hands on.
        var decoder = decoder([Expander(times: 300), Expander(times: 2)])
        decoder.append(ByteBuffer(repeating: 1, count: 10_000))
        var count = 0
        while let data = try decoder.next() { count += data.count }
        try decoder.finish()
        #expect(count == 6_000_000)
    }
}
#endif
