/// The value of a field as text that keeps its bytes.
///
/// The bytes of a value beyond ASCII are opaque (RFC 9110 §5.5). One rule holds for all protocols and both directions:
///
/// - A value that is valid UTF-8 is the text that it spells, as in Foundation.
/// - In any other value, each byte from 0x80 on is a *held byte*: one scalar from U+EF80 to U+EFFF, in Unicode's area for
///   private use. Whoever shows the value to a reader shows the byte as ISO 8859-1 does (``shown(_:)``).
///
/// So a value can be stored, compared and sent back as text, and ``bytes(of:)`` is always what came. A value that
/// itself spells such a scalar in UTF-8 is held byte by byte, too.
package enum FieldText {
    /// The text of a value.
    package static func text(of bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self), !holdsBytes(text) { return text }
        var text = ""
        text.unicodeScalars.append(contentsOf: bytes.lazy.map { $0 < 0x80 ? Unicode.Scalar($0) : held($0) })
        return text
    }

    /// The bytes of a value, as they are sent.
    package static func bytes(of text: String) -> [UInt8] {
        guard holdsBytes(text) else { return Array(text.utf8) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if let byte = byte(heldBy: scalar) {
                bytes.append(byte)
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
        return bytes
    }

    /// The value as a reader sees it: each held byte as the character that ISO 8859-1 has for it.
    package static func shown(_ text: String) -> String {
        guard holdsBytes(text) else { return text }
        var result = ""
        result.unicodeScalars.append(
            contentsOf: text.unicodeScalars.lazy.map { byte(heldBy: $0).map(Unicode.Scalar.init) ?? $0 }
        )
        return result
    }

    /// The value as a reference to a URL: each held byte percent-encoded (RFC 3986 §2.1), so that it is requested as it
    /// came.
    ///
    /// Characters that no URL has are encoded as well: Foundation would encode the whole reference for one of them, the
    /// percent signs too. A value without held bytes is returned as it is: Foundation or ``CanonicalURL`` encodes it.
    package static func percentEncoded(_ text: String) -> String {
        guard holdsBytes(text) else { return text }
        let bytes = bytes(of: text)
        let path = endOfAuthority(in: bytes)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        for (index, byte) in bytes.enumerated() {
            let isKept =
                switch byte {
                case UInt8(ascii: "%"): percentDecodedByte(bytes, at: index, end: bytes.count) != nil
                case UInt8(ascii: "["), UInt8(ascii: "]"): index < path
                default: (0x21...0x7E).contains(byte) && !"\"<>\\^`{|}".utf8.contains(byte)
                }
            if isKept { result.append(byte) } else { result.appendPercentEncoded(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The index at which path, query or fragment of a reference begins: only an authority has brackets (RFC 3986 §3.2.2).
    private static func endOfAuthority(in bytes: [UInt8]) -> Int {
        let slash = UInt8(ascii: "/")
        let start = bytes.first == slash ? 0 : (bytes.firstIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? 0)
        guard bytes[start...].starts(with: [slash, slash]) else { return 0 }
        return bytes[(start + 2)...].firstIndex { $0 == slash || "?#".utf8.contains($0) } ?? bytes.count
    }

    /// Whether a text has held bytes; most have none.
    package static func holdsBytes(_ text: String) -> Bool {
        // The scalars from U+EF80 to U+EFFF begin with 0xEE 0xBE and 0xEE 0xBF in UTF-8.
        var text = text
        return text.withUTF8 { bytes in
            bytes.indices.contains { index in
                bytes[index] == 0xEE && index + 1 < bytes.count && bytes[index + 1] >= 0xBE
            }
        }
    }

    private static func held(_ byte: UInt8) -> Unicode.Scalar {
        Unicode.Scalar(firstHeld + UInt32(byte)) ?? "\u{FFFD}"
    }

    private static func byte(heldBy scalar: Unicode.Scalar) -> UInt8? {
        (firstHeld + 0x80...firstHeld + 0xFF).contains(scalar.value) ? UInt8(scalar.value - firstHeld) : nil
    }

    /// A held byte is this number and the byte.
    private static let firstHeld: UInt32 = 0xEF00
}

/// Text of others in the form in which errors, events and logs show it.
///
/// A catalogue, a server's error or a name in an archive may hold megabytes, line breaks that forge a line of a log, or
/// escape sequences that control a terminal. Every message with a text from outside shows it by one of these functions.
extension StringProtocol {
    /// The text with its hidden characters escaped, cut if it is long; the mark of a cut is `…`.
    ///
    /// A shown text has no hidden characters, so a message that holds it can itself be shown as a whole.
    ///
    /// - Parameter limit: The number of characters (Unicode scalars) before the cut.
    /// - Returns: The text to show.
    /// - Complexity: O(`limit`), however long the text is.
    package func shown(upTo limit: Int = 80) -> String {
        // Each event of a store shows a URL. Most URLs are short and have no hidden characters.
        let isPlain = utf8.count <= limit && utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        if isPlain { return String(self) }
        var shown = ""
        var rest = unicodeScalars[...]
        for _ in 0..<limit {
            guard let scalar = rest.popFirst() else { return shown }
            if scalar.isHidden { shown += scalar.shownEscape } else { shown.unicodeScalars.append(scalar) }
        }
        return rest.isEmpty ? shown : shown + "…"
    }

    /// The shown text between quotation marks, so that a reader sees where it ends.
    ///
    /// - Parameter limit: The number of characters (Unicode scalars) before the cut.
    /// - Returns: The text to show.
    package func quoted(upTo limit: Int = 80) -> String {
        "\"" + String(shown(upTo: limit).flatMap { $0 == "\"" ? ["\\", $0] : [$0] }) + "\""
    }
}

extension Unicode.Scalar {
    /// Whether the character is not seen as itself: a control or format character, a line end, or one without a meaning
    /// of its own.
    package var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: true
        default: false
        }
    }

    /// The escape of a hidden character, as in the source of Swift; without the zeros that Swift's own has from U+10000 on.
    fileprivate var shownEscape: String {
        value < 0x80 ? escaped(asASCII: true) : "\\u{" + String(value, radix: 16, uppercase: true) + "}"
    }
}
