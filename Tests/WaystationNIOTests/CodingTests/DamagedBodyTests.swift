#if NIO
import Foundation
import NIOCore
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Damaged bodies")
struct DamagedBodyTests {
    static let bodies: [(codings: [String], encoded: Data)] = [
        (["gzip"], EncodedBodies.patternGzip), (["deflate"], EncodedBodies.textDeflate),
        (["deflate"], EncodedBodies.textRawDeflate), (["br"], EncodedBodies.patternBrotli),
        (["zstd"], EncodedBodies.patternZstandard), (["gzip", "br"], EncodedBodies.textGzipThenBrotli),
    ]

    @Test("Damage ends with an error or some bytes, never with a crash or an endless loop", arguments: 0..<6)
    func damage(index: Int) throws {
        let (codings, encoded) = Self.bodies[index]
        var generator = SeededGenerator(seed: UInt64(index) + 1)
        var failures = 0
        for _ in 0..<500 {
            let bytes = Damage.damaged([UInt8](encoded), using: &generator)
            if try fails(bytes, codings, &generator) { failures += 1 }
        }
        #expect(failures > 0)
    }

    /// Decodes bytes in random parts; returns whether that failed.
    private func fails(_ bytes: [UInt8], _ codings: [String], _ generator: inout SeededGenerator) throws -> Bool {
        var decoder = try #require(
            ContentDecoding.make(for: codings, limits: DecodingLimits(ratio: 10, bytesBeforeRatio: 1 << 20))
        )
        var total = 0
        do {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...400, using: &generator)
                decoder.append(ByteBuffer(bytes: rest.prefix(count)))
                rest = rest.dropFirst(count)
                while let piece = try decoder.next() {
                    #expect(!piece.isEmpty)
                    total += piece.count
                    try #require(total <= 2 << 20)
                }
            }
            try decoder.finish()
            return false
        } catch is DecodingFailure {
            return true
        }
    }
}
#endif
