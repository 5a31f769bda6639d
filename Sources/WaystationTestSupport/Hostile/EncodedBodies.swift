public import Foundation

/// Bodies that were encoded by the reference implementations.
public enum EncodedBodies {
    /// The text that the `text…` bodies contain.
    public static let text = Data(String(repeating: "Water takes the shape of its vessel. ", count: 30).utf8)
    /// The bytes that the `pattern…` bodies contain: 200,000, so more than one piece.
    public static let pattern = Data((0..<200_000).map { UInt8($0 % 251) })

    /// The text in gzip.
    public static let textGzip = decoded(
        "H4sIAAAAAAACAwtPLEktUihJzE4tVijJSFUozkgsSFXIT1PILClWKEstLk7N0VMIH1U0qmhU0agiYhUBABRsslNWBAAA"
    )
    /// The text in deflate, with zlib's header.
    public static let textDeflate = decoded(
        "eJwLTyxJLVIoScxOLVYoyUhVKM5ILEhVyE9TyCwpVihLLS5OzdFTCB9VNKpoVNGoImIVAQDbTYvs"
    )
    /// The text in deflate without a header.
    public static let textRawDeflate = decoded(
        "C08sSS1SKEnMTi1WKMlIVSjOSCxIVchPU8gsKVYoSy0uTs3RUwgfVTSqaFTRqCJiFQEA"
    )
    /// The text in Brotli.
    public static let textBrotli = decoded(
        "G1UEAARqcqQH9KZxUFvUVg8TOXAIMW47iRwmcmJBAX1XpOsI2MOLCIRtxs+8xtcLEA=="
    )
    /// The text in Zstandard.
    public static let textZstandard = decoded(
        "KLUv/QRoXQEAUkIID8CnA2Cb13rtwk//rbXLnIPCluneWJh5yjrtLkndiFchAQB1Af3qCWbUy7U="
    )
    /// The text in gzip, and that in Brotli.
    public static let textGzipThenBrotli = decoded(
        "CyKAH4sIAAAAAAACAwtPLEktUihJzE4tVijJSFUozkgsSFXIT1PILClWKEstLk7N0VMIH1U0qmhU0agiYhUBABRsslNWBAAAAw=="
    )
    /// The pattern in gzip.
    public static let patternGzip = decoded(
        """
        H4sIAAAAAAACA+3PQ4IQAAAAwM22udm2bdu2bddm27Zt27ZtW6f+0HnmBxMQLHiIkKFChwkbLnyEiJEiR4kaLXqMmLFix4kbL36C\
        hIkSByZJmix5ipSpUqdJmy59hoyZMmfJmi17jpy5cufJmy9/gYKFChcpWqx4iZKlSpcpW658hYqVKlepWq16jZq1atepW69+g4aN\
        Gjdp2qx5i5atWrdp2659h46dOnfp2q17j569evfp26//gIGDBg8ZOixo+IiRo0aPGTtu/ISJkyZPmTpt+oyZs2bPmTtv/oKFixYv\
        Wbps+YqVq1avWbtu/YaNmzZv2bpt+46du3bv2btv/4GDhw4fOXrs+ImTp06fOXvu/IWLly5fuXrt+o2bt27fuXvv/oOHjx4/efrs\
        +YuXr16/efvu/YePnz5/+frt+4+fv37/+Rugrq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6u\
        rq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq7+v/V/RcFFp0ANAwA=
        """
    )
    /// The pattern in Brotli.
    public static let patternBrotli = decoded(
        """
        Wz8NA8CRGvXF7G5gnikP1CkOzHNzqQspSrwxOK/kPF5GGuLLowl+WwAQghEUw+fHABDO/A8MEAAIwQiK4QRJ0QzL8YIoyYqq6YZp\
        2Y7r+UEoHInG4olkKp3J5vKFYqlcqdbqjWar3en2+oPhaDyZzuaL5Wq92e72h+PpfLne7o/n6/35/v4kRTMsxwuiJCuqphumZTuu\
        5wdhFCdplhdlVTdt1w/jNC/rZrvbH46n8+V6uz+er/fn+/sDiDChDMvxgijJiqrphmnZjuv5QRjFSZrlRVnVTdv1wzjNy7rtx3nd\
        z/v9+Q==
        """
    )
    /// The pattern in Zstandard.
    public static let patternZstandard = decoded(
        """
        KLUv/QRoLAgAtA8AAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4/\
        QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl9gYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImK\
        i4yNjo+QkZKTlJWWl5iZmpucnZ6foKGio6SlpqeoqaqrrK2ur7CxsrO0tba3uLm6u7y9vr/AwcLDxMXGx8jJysvMzc7P0NHS09TV\
        1tfY2drb3N3e3+Dh4uPk5ebn6Onq6+zt7u/w8fLz9PX29/j5+gEAe4F/f26kVQAAAAEAPQ3R/7kGAn/SLtQ=
        """
    )
    /// 64 MiB of zeros in Brotli.
    public static let zerosBrotli = decoded(
        """
        y///PwAkAOKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///fwBIAMRhAeje\
        //H//w8ACYA4LADd+7/8//8DIAEQhwWge/8H
        """
    )
    /// Zeros in gzip in gzip in gzip, far over every limit.
    public static let zerosThreeTimesGzip = decoded(
        """
        H4sIAAAAAAACA5Pv5mAAASbmt3cV85gSBdgupJazOm4JCVE8ZWgwe4viFVNHkUYlmQVCvJ7BoZe9FwRWFNxpeGTB4KgQ0NJ6N/nP\
        73lSf0/qT545/X5VSMfkw7vCdvNv3v/6UUS+C9BUhwdpu98v0WBeVLav9j0/UKDhQq+8/KVNIjt6ovIfgfgP/qbMTdupWDCrbimE\
        bzv/+/pU8Q0np/vP/wRRYC0BcuDURwkgKuS0zest3XoLKk+p372RzgoU0Ur6etG7+vBvgfsMxS2vlKvrGRgAFPxYZNUAAAA=
        """
    )
    /// 64 MiB of a Zstandard frame that is skipped (RFC 8878 §3.1.2), in Brotli: the inner coding yields no bytes.
    public static let skippedZstandardInBrotli = decoded(
        """
        y///PwDEMe5aZODJr8VwO34LZOz9Xx3tJ/j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+\
        j///fwBIAMRhAeje//H//w8ACYA4LADd+7/8//8DIAEQhwWge/8H
        """
    )

    /// A Zstandard frame of blocks that stand for 128 KiB of zeros each (RFC 8878 §3.1.1).
    public static func zerosZstandard(blocks: Int) -> Data {
        var frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x38]
        for number in 1...blocks {
            let header: UInt32 = (128 << 10) << 3 | 1 << 1 | (number == blocks ? 1 : 0)
            frame += [
                UInt8(truncatingIfNeeded: header), UInt8(truncatingIfNeeded: header >> 8), UInt8(header >> 16), 0,
            ]
        }
        return Data(frame)
    }

    /// A Zstandard frame of five letters whose window is 2 to the power of `windowLog`.
    public static func zstandard(windowLog: UInt8) -> Data {
        Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, (windowLog - 10) << 3, 0x2B, 0x00, 0x00, UInt8(ascii: "a")])
    }

    private static func decoded(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
}

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
