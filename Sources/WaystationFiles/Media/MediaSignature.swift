/// The signatures of the WHATWG MIME Sniffing standard that need more than comparing bytes (section 6.2).
enum MediaSignature {
    /// Section 6.2.1: a `ftyp` box that names an `mp4…` brand.
    static func isMP4(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 12 else { return false }
        let boxSize = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        guard boxSize % 4 == 0, bytes.count >= boxSize, bytes[4..<8].elementsEqual("ftyp".utf8) else { return false }
        if bytes[8..<11].elementsEqual("mp4".utf8) { return true }
        // Bytes 12 to 15 are the version of the major brand.
        return stride(from: 16, to: boxSize, by: 4).contains { bytes[$0...].starts(with: "mp4".utf8) }
    }

    /// Section 6.2.2: an EBML head whose DocType is `webm`.
    static func isWebM(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) else { return false }
        for start in 4..<38 where bytes.count >= start + 2 && bytes[start] == 0x42 && bytes[start + 1] == 0x82 {
            let size = start + 2
            guard size < bytes.count else { return false }
            let value = size + vintLength(bytes[size])
            guard value < bytes.count else { return false }
            // The name may be preceded by zero bytes as padding.
            return bytes[value...].drop { $0 == 0 }.starts(with: "webm".utf8)
        }
        return false
    }

    /// The number of bytes of an EBML variable-length integer, determined by its first byte.
    private static func vintLength(_ first: UInt8) -> Int {
        min(first.leadingZeroBitCount + 1, 8)
    }

    /// Section 6.2.3: two MPEG audio layer III frames in a row, without an ID3 tag in front.
    ///
    /// The sizes of MPEG-2 and 2.5 frames follow ISO 13818-3; the standard's own formula uses the sample rates of
    /// MPEG-1 for them.
    static func isMP3(_ bytes: [UInt8]) -> Bool {
        guard let size = mp3FrameSize(bytes[...]), size >= 4, size < bytes.count else { return false }
        return mp3FrameSize(bytes[size...]) != nil
    }

    private static func mp3FrameSize(_ bytes: ArraySlice<UInt8>) -> Int? {
        let head = Array(bytes.prefix(4))
        guard head.count == 4, head[0] == 0xFF, head[1] & 0xE0 == 0xE0, head[1] >> 1 & 3 == 1 else { return nil }
        let (rateIndex, frequencyIndex) = (Int(head[2] >> 4), Int(head[2] >> 2 & 3))
        guard rateIndex < 15, frequencyIndex < 3 else { return nil }
        let frequency = [44_100, 48_000, 32_000][frequencyIndex]
        let padding = Int(head[2] >> 1 & 1)
        let slowRates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        switch head[1] >> 3 & 3 {
        case 3:
            let rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
            return 144 * rates[rateIndex] * 1000 / frequency + padding
        case 2: return 72 * slowRates[rateIndex] * 1000 / (frequency / 2) + padding
        case 0: return 72 * slowRates[rateIndex] * 1000 / (frequency / 4) + padding
        default: return nil
        }
    }
}
