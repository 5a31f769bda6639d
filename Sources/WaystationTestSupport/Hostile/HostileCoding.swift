/// Bodies whose content coding is damaged, wrong, nested or a bomb.
public enum HostileCoding {
    /// Encoded bodies with the value of `Content-Encoding` that names their codings.
    public static let bodies: [(codings: String, bytes: [UInt8])] =
        [
            ("gzip", EncodedBodies.textGzip), ("deflate", EncodedBodies.textDeflate),
            ("deflate", EncodedBodies.textRawDeflate), ("br", EncodedBodies.textBrotli),
            ("zstd", EncodedBodies.textZstandard), ("gzip, br", EncodedBodies.textGzipThenBrotli),
            ("gzip", EncodedBodies.patternGzip), ("br", EncodedBodies.patternBrotli),
            ("zstd", EncodedBodies.patternZstandard),
        ].map { ($0.0, [UInt8]($0.1)) }

    /// Bodies that decode to far more than they have, or that cost much and decode to nothing.
    public static let bombs: [(codings: String, bytes: [UInt8])] =
        [
            ("br", EncodedBodies.zerosBrotli), ("gzip, gzip, gzip", EncodedBodies.zerosThreeTimesGzip),
            ("zstd", EncodedBodies.zerosZstandard(blocks: 4000)), ("zstd, br", EncodedBodies.skippedZstandardInBrotli),
            ("zstd", EncodedBodies.zstandard(windowLog: 30)),
        ].map { ($0.0, [UInt8]($0.1)) }

    static func response(_ random: inout some RandomNumberGenerator) -> HostileResponse {
        guard !random.once(in: 8) else { return endless }
        var (codings, bytes) = random.once(in: 4) ? random.pick(bombs) : random.pick(bodies)
        switch random.number(0...6) {
        case 0: bytes = Damage.damaged(bytes, using: &random)
        case 1: bytes = Array(bytes.prefix(random.number(0...bytes.count)))
        case 2: bytes += random.pick([[0], Array("garbage".utf8), bytes, [UInt8](repeating: 0, count: 100_000)])
        // The checksum of gzip and of zlib is at the end.
        case 3: for place in bytes.indices.suffix(8) { bytes[place] = .random(in: 0...255, using: &random) }
        case 4:
            codings = random.pick([
                "gzip", "br", "zstd", "deflate", "compress", "identity", "x-gzip", "gzip, gzip, gzip, gzip", ", ,",
                Array(repeating: "gzip", count: 10_000).joined(separator: ","), "\u{0}", "gzip;q=1",
            ])
        default: break
        }
        return HostileResponse(
            "codings",
            [
                .text("HTTP/1.1 200 OK\r\nContent-Encoding: \(codings)\r\nContent-Length: \(bytes.count)\r\n\r\n"),
                .send(bytes),
            ]
        )
    }

    /// A Zstandard frame without an end: each block of four bytes stands for 128 KiB of zeros.
    private static let endless: HostileResponse = {
        let frame = [UInt8](EncodedBodies.zerosZstandard(blocks: 2))
        let header = Array(frame.prefix(6))
        let block = Array(frame[6..<10])
        return HostileResponse(
            "codings",
            [
                .text("HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\n\r\n"), .send(header),
                .flood(Array(repeatElement(block, count: 1024).joined()), times: 16 << 10),
            ]
        )
    }()
}
