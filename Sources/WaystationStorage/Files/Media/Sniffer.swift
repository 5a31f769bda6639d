import Foundation
import WaystationHTTP

/// Determines a media type by the first bytes of a file, as the WHATWG MIME Sniffing standard does for an unknown type
/// (section 7.1, with its sniff-scriptable flag set).
struct Sniffer {
    private let bytes: [UInt8]

    init(_ bytes: Data) {
        self.bytes = Array(bytes)
    }

    /// The type and subtype; `application/octet-stream` when the bytes are binary and match no pattern.
    var essence: String {
        if let essence = markup ?? match(Self.documents) ?? match(Self.images) ?? match(Self.media) {
            return essence
        }
        if MediaSignature.isMP4(bytes) { return "video/mp4" }
        if MediaSignature.isWebM(bytes) { return "video/webm" }
        if MediaSignature.isMP3(bytes) { return "audio/mpeg" }
        if let essence = match(Self.archives) { return essence }
        if !bytes.contains(where: Self.isBinary) { return "text/plain" }
        // Fonts come last, and only for binary files: "LP" alone also occurs in text.
        return match(Self.fonts) ?? "application/octet-stream"
    }

    /// The type of HTML or XML; whitespace before the markup is skipped.
    private var markup: String? {
        let text = bytes.drop { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains($0) }
        for tag in Self.tags {
            let name = tag.utf8
            guard text.startsIgnoringCase(with: name) else { continue }
            // The next byte must be a tag-terminating byte: a space or ">".
            if let next = text.dropFirst(name.count).first, next == 0x20 || next == 0x3E { return "text/html" }
        }
        return text.starts(with: "<?xml".utf8) ? "text/xml" : nil
    }

    private func match(_ patterns: [Pattern]) -> String? {
        patterns.first { $0.matches(bytes) }?.essence
    }

    /// A binary data byte (section 3).
    private static func isBinary(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x08, 0x0B, 0x0E...0x1A, 0x1C...0x1F: true
        default: false
        }
    }

    private static let tags = [
        "<!DOCTYPE HTML", "<HTML", "<HEAD", "<SCRIPT", "<IFRAME", "<H1", "<DIV", "<FONT", "<TABLE", "<A", "<STYLE",
        "<TITLE", "<B", "<BODY", "<BR", "<P", "<!--",
    ]

    private static let documents = [
        Pattern("application/pdf", "%PDF-"),
        Pattern("application/postscript", "%!PS-Adobe-"),
        // Byte order marks: at least two more bytes must follow one of UTF-16, and one more byte one of UTF-8.
        Pattern("text/plain", [0xFE, 0xFF, nil, nil]),
        Pattern("text/plain", [0xFF, 0xFE, nil, nil]),
        Pattern("text/plain", [0xEF, 0xBB, 0xBF, nil]),
    ]

    /// Section 6.1.
    private static let images = [
        Pattern("image/x-icon", [0, 0, 1, 0]),
        Pattern("image/x-icon", [0, 0, 2, 0]),
        Pattern("image/bmp", "BM"),
        Pattern("image/gif", "GIF87a"),
        Pattern("image/gif", "GIF89a"),
        Pattern("image/webp", "RIFF????WEBPVP"),
        Pattern("image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        Pattern("image/jpeg", [0xFF, 0xD8, 0xFF]),
    ]

    /// Section 6.2; signatures that must be computed are in ``MediaSignature``.
    private static let media = [
        Pattern("audio/aiff", "FORM????AIFF"),
        Pattern("audio/mpeg", "ID3"),
        Pattern("application/ogg", [0x4F, 0x67, 0x67, 0x53, 0]),
        Pattern("audio/midi", [0x4D, 0x54, 0x68, 0x64, 0, 0, 0, 6]),
        Pattern("video/avi", "RIFF????AVI "),
        Pattern("audio/wave", "RIFF????WAVE"),
    ]

    /// Section 6.3.
    private static let fonts = [
        Pattern("application/vnd.ms-fontobject", Array(repeating: nil, count: 34) + [0x4C, 0x50]),
        Pattern("font/ttf", [0, 1, 0, 0]),
        Pattern("font/otf", "OTTO"),
        Pattern("font/collection", "ttcf"),
        Pattern("font/woff", "wOFF"),
        Pattern("font/woff2", "wOF2"),
    ]

    /// Section 6.4.
    private static let archives = [
        Pattern("application/x-gzip", [0x1F, 0x8B, 0x08]),
        Pattern("application/zip", [0x50, 0x4B, 0x03, 0x04]),
        Pattern("application/x-rar-compressed", [0x52, 0x61, 0x72, 0x20, 0x1A, 0x07, 0x00]),
    ]
}

/// The bytes with which a file must begin; `nil` stands for any byte.
private struct Pattern {
    let essence: String
    private let bytes: [UInt8?]

    init(_ essence: String, _ bytes: [UInt8?]) {
        self.essence = essence
        self.bytes = bytes
    }

    /// A `?` in the text stands for any byte.
    init(_ essence: String, _ text: String) {
        self.init(essence, text.utf8.map { $0 == UInt8(ascii: "?") ? nil : $0 })
    }

    func matches(_ input: [UInt8]) -> Bool {
        input.count >= bytes.count && zip(input, bytes).allSatisfy { $1 == nil || $0 == $1 }
    }
}

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

/// Checks whether bytes that arrive piece by piece are UTF-8 (Unicode 16, table 3-7).
struct UTF8Validator: Sendable {
    /// Whether all bytes so far can be the beginning of valid UTF-8.
    private(set) var isValid = true
    /// The number of continuation bytes that must follow, and the allowed values of the next one.
    private var due = 0
    private var allowed: ClosedRange<UInt8> = 0x80...0xBF

    /// Whether all bytes so far are valid UTF-8 and the last character is complete.
    var isValidAtEnd: Bool { isValid && due == 0 }

    mutating func take(_ bytes: Data) {
        guard isValid else { return }
        bytes.withUnsafeBytes { take($0) }
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count {
            if due == 0 {
                // Most text is ASCII: this skips eight bytes at a time as long as no byte has its high bit set.
                while index + 8 <= bytes.count,
                    bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                {
                    index += 8
                }
                guard index < bytes.count else { return }
                guard begin(bytes[index]) else { return isValid = false }
            } else {
                guard allowed.contains(bytes[index]) else { return isValid = false }
                due -= 1
                allowed = 0x80...0xBF
            }
            index += 1
        }
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x7F: return true
        case 0xC2...0xDF: due = 1
        case 0xE0: (due, allowed) = (2, 0xA0...0xBF)
        case 0xED: (due, allowed) = (2, 0x80...0x9F)
        case 0xE1...0xEF: due = 2
        case 0xF0: (due, allowed) = (3, 0x90...0xBF)
        case 0xF1...0xF3: due = 3
        case 0xF4: (due, allowed) = (3, 0x80...0x8F)
        default: return false
        }
        return true
    }
}
