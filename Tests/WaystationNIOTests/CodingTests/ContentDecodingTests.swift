#if NIO
import Foundation
import NIOCore
import Testing
import WaystationArchive
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Content codings")
struct ContentDecodingTests {
    @Test("Every coding is decoded, whatever the size of the parts", arguments: [1, 7, 1000, 1 << 20])
    func decodes(partSize: Int) throws {
        let bodies: [([String], Data, Data)] = [
            (["gzip"], EncodedBodies.textGzip, EncodedBodies.text),
            (["X-GZip"], EncodedBodies.textGzip, EncodedBodies.text),
            (["deflate"], EncodedBodies.textDeflate, EncodedBodies.text),
            (["deflate"], EncodedBodies.textRawDeflate, EncodedBodies.text),
            (["br"], EncodedBodies.textBrotli, EncodedBodies.text),
            (["zstd"], EncodedBodies.textZstandard, EncodedBodies.text),
            (["gzip", "identity", "br"], EncodedBodies.textGzipThenBrotli, EncodedBodies.text),
            (["gzip"], EncodedBodies.patternGzip, EncodedBodies.pattern),
            (["br"], EncodedBodies.patternBrotli, EncodedBodies.pattern),
            (["zstd"], EncodedBodies.patternZstandard, EncodedBodies.pattern),
            (
                ["zstd"], EncodedBodies.textZstandard + EncodedBodies.textZstandard,
                EncodedBodies.text + EncodedBodies.text
            ),
        ]
        for (codings, encoded, expected) in bodies {
            #expect(try decode(encoded, codings, partSize: partSize) == expected, "\(codings)")
        }
    }

    @Test("The libraries that are installed here are offered")
    func offers() {
        #expect(ContentCodecs.available == ["deflate", "gzip", "br", "zstd"])
    }

    @Test(
        "Codings that are unknown, too many or none at all have no decoder",
        arguments: [["compress"], ["gzip", "aes128gcm"], ["gzip", "gzip", "gzip", "gzip"], ["identity"], []]
    )
    func hasNoDecoder(codings: [String]) {
        #expect(ContentDecoding.make(for: codings, limits: DecodingLimits()) == nil)
    }

    @Test("Decoded pieces have 64 KiB at most, and an end needs no further bytes")
    func pieces() throws {
        var decoder = try #require(ContentDecoding.make(for: ["br"], limits: DecodingLimits(ratio: .max)))
        decoder.append(ByteBuffer(bytes: EncodedBodies.zerosBrotli))
        var total = 0
        while let piece = try decoder.next() {
            #expect(piece.count <= 64 << 10)
            total += piece.count
        }
        try decoder.finish()
        #expect(total == 64 << 20)
    }

    @Test("An empty body is complete in every coding", arguments: ["gzip", "deflate", "br", "zstd"])
    func emptyBody(coding: String) throws {
        #expect(try decode(Data(), [coding], partSize: 1).isEmpty)
    }

    @Test("A body that is cut short anywhere is reported, with the name of its coding")
    func cutShort() throws {
        let bodies: [(String, Data)] = [
            ("gzip", EncodedBodies.textGzip), ("deflate", EncodedBodies.textDeflate),
            ("deflate", EncodedBodies.textRawDeflate), ("br", EncodedBodies.textBrotli),
            ("zstd", EncodedBodies.textZstandard),
        ]
        for (coding, whole) in bodies {
            for count in 1..<whole.count {
                let failure = #expect(throws: DecodingFailure.self) {
                    try decode(whole.prefix(count), [coding], partSize: 5)
                }
                #expect(failure?.coding == coding)
                #expect(failure?.reason.hasPrefix("ends too early") == true, "\(count): \(String(describing: failure))")
            }
        }
    }

    @Test("A second gzip member and trailing bytes are refused, in the same part and in a later one")
    func trailingBytes() throws {
        let bodies: [(String, Data, Data)] = [
            ("gzip", EncodedBodies.textGzip, EncodedBodies.textGzip),
            ("gzip", EncodedBodies.textGzip, Data([0])),
            ("deflate", EncodedBodies.textDeflate, Data([0])),
            ("br", EncodedBodies.textBrotli, Data([0])),
        ]
        for (coding, whole, rest) in bodies {
            for partSize in [whole.count, 1 << 20] {
                #expect(throws: DecodingFailure(coding: coding, reason: CodecError.trailingBytes.reason)) {
                    try decode(whole + rest, [coding], partSize: partSize)
                }
            }
        }
    }

    @Test("A Zstandard window of 8 MiB is accepted and a larger one refused, as RFC 9659 demands")
    func zstandardWindow() throws {
        #expect(try decode(EncodedBodies.zstandard(windowLog: 23), ["zstd"], partSize: 64) == Data("aaaaa".utf8))
        let failure = #expect(throws: DecodingFailure.self) {
            try decode(EncodedBodies.zstandard(windowLog: 24), ["zstd"], partSize: 64)
        }
        #expect(failure?.coding == "zstd")
    }

    @Test("Bombs end soon after the limit, also when one is hidden in another")
    func bombs() throws {
        let bombs: [([String], Data)] = [
            (["br"], EncodedBodies.zerosBrotli),
            (["zstd"], EncodedBodies.zerosZstandard(blocks: 512)),
            (["gzip", "gzip", "gzip"], EncodedBodies.zerosThreeTimesGzip),
        ]
        for (codings, encoded) in bombs {
            var decoder = try #require(ContentDecoding.make(for: codings, limits: DecodingLimits()))
            decoder.append(ByteBuffer(bytes: encoded))
            var total = 0
            let failure = #expect(throws: DecodingFailure.self) {
                while let piece = try decoder.next() { total += piece.count }
            }
            #expect(failure?.reason.contains("over the limit of 1100 times") == true)
            #expect(total >= (16 << 20) - (64 << 10))
            #expect(total <= 16 << 20)
        }
    }

    @Test("A bomb whose inner coding yields nothing is found as well")
    func silentBomb() throws {
        let failure = #expect(throws: DecodingFailure.self) {
            try decode(EncodedBodies.skippedZstandardInBrotli, ["zstd", "br"], partSize: 1 << 20)
        }
        #expect(failure?.coding == "br" && failure?.reason.contains("for the coding below it") == true)
    }

    @Test("A body of zeros below the floor is accepted at any ratio")
    func smallBodyOfZeros() throws {
        let encoded = EncodedBodies.zerosZstandard(blocks: 100)
        #expect(try decode(encoded, ["zstd"], partSize: 1 << 20).count == 100 * 128 << 10)
    }
}

/// Decodes a whole body.
func decode(_ encoded: Data, _ codings: [String], partSize: Int) throws -> Data {
    var decoder = try #require(ContentDecoding.make(for: codings, limits: DecodingLimits()))
    var result = Data()
    var rest = encoded[...]
    while !rest.isEmpty {
        decoder.append(ByteBuffer(bytes: rest.prefix(partSize)))
        rest = rest.dropFirst(partSize)
        while let piece = try decoder.next() { result += piece }
    }
    try decoder.finish()
    return result
}
#endif
