import Foundation

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
            guard text.count > name.count, zip(text, name).allSatisfy({ $0.asciiUppercased == $1 }) else { continue }
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

extension UInt8 {
    fileprivate var asciiUppercased: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self - 0x20 : self
    }
}
