import WaystationFields

extension SecretSearch {
    /// The secrets of JSON: of one document, of several one after the other, and of one that is damaged.
    mutating func json(_ text: [UInt8]) -> [SecretSpan] {
        var spans: [SecretSpan] = []
        // The name of the secret that each open object or array belongs to; nil outside of secrets.
        var open: [[UInt8]?] = []
        // The name of the next value, if it is that of a secret.
        var name: [UInt8]?
        var place = 0
        while place < text.count {
            let secret = name ?? open.last.flatMap(\.self)
            switch text[place] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if open.count < Self.deepestJSON { open.append(secret) }
                name = nil
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                name = nil
                place += 1
            case UInt8(ascii: ","):
                name = nil
                place += 1
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let end = Self.endOfString(text, place)
                let part = Self.unescaped(text, place + 1..<end)
                let next = text[min(end + 1, text.count)...].firstIndex { $0 > 0x20 }
                if let next, text[next] == UInt8(ascii: ":") {
                    name = hides(part.bytes) ? part.bytes : nil
                    place = next + 1
                    continue
                }
                if let secret {
                    if isSecret(part.bytes, name: secret) {
                        spans.append(Self.span(place + 1..<end, secret, part.bytes, SecretNames.placeholder))
                    }
                } else {
                    spans += part.outer(nested(part.bytes), encode: Self.escaped)
                }
                name = nil
                place = end + 1
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                let end = text[place...].firstIndex { !Self.isInNumber($0) } ?? text.count
                if let secret, isSecret(Array(text[place..<end]), name: secret) {
                    let value = Array(text[place..<end])
                    spans.append(Self.span(place..<end, secret, value, "\"\(SecretNames.placeholder)\""))
                }
                name = nil
                place = max(end, place + 1)
            case let byte where byte.isASCIILetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$"):
                // A literal, or a name without quotation marks, as JavaScript writes it.
                let end = text[place...].firstIndex { !$0.isInWord } ?? text.count
                let next = text[end...].firstIndex { !$0.isSpace } ?? text.count
                let isName = next < text.count && text[next] == UInt8(ascii: ":")
                name = isName && hides(Array(text[place..<end])) ? Array(text[place..<end]) : nil
                place = end
            default: place += 1
            }
        }
        return spans
    }

    static func span(_ range: Range<Int>, _ name: [UInt8], _ value: [UInt8], _ replacement: String) -> SecretSpan {
        SecretSpan(range, String(decoding: name, as: UTF8.self), value, replacement: Array(replacement.utf8))
    }

    /// The index of the quotation mark that ends a string, of a line's end, or of the end of the text.
    private static func endOfString(_ text: [UInt8], _ start: Int) -> Int {
        var place = start + 1
        while place < text.count, text[place] != text[start], text[place] != UInt8(ascii: "\n") {
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place, text.count)
    }

    /// The text of a string without its escapes (RFC 8259 §7).
    static func unescaped(_ text: [UInt8], _ range: Range<Int>) -> DecodedPart {
        guard text[range].contains(UInt8(ascii: "\\")) else { return DecodedPart(text, range) }
        var part = DecodedPart(for: range)
        var place = range.lowerBound
        while place < range.upperBound {
            guard text[place] == UInt8(ascii: "\\"), place + 1 < range.upperBound else {
                part.append(text[place], at: place)
                place += 1
                continue
            }
            switch text[place + 1] {
            case UInt8(ascii: "b"): part.append(8, at: place)
            case UInt8(ascii: "f"): part.append(12, at: place)
            case UInt8(ascii: "n"): part.append(10, at: place)
            case UInt8(ascii: "r"): part.append(13, at: place)
            case UInt8(ascii: "t"): part.append(9, at: place)
            case UInt8(ascii: "u"):
                if let (scalar, length) = Self.scalar(text[place..<range.upperBound]) {
                    for byte in String(Character(scalar)).utf8 { part.append(byte, at: place) }
                    place += length
                    continue
                }
                part.append(UInt8(ascii: "u"), at: place)
            case let byte: part.append(byte, at: place)
            }
            place += 2
        }
        return part
    }

    /// The character of an escape such as `\u00e9`, or of two for a pair of surrogates, and the length of the escape.
    static func scalar(_ text: ArraySlice<UInt8>) -> (Unicode.Scalar, length: Int)? {
        guard let first = unit(text) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard let second = unit(text.dropFirst(6)), (0xD800..<0xDC00).contains(first),
            (0xDC00..<0xE000).contains(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00).map { ($0, 12) }
    }

    private static func unit(_ text: ArraySlice<UInt8>) -> UInt16? {
        guard text.count >= 6, text.starts(with: "\\u".utf8) else { return nil }
        var unit: UInt16 = 0
        for byte in text.dropFirst(2).prefix(4) {
            guard let digit = byte.hexadecimalDigit else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    /// Bytes as they are written within a string.
    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { "\"\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    }

    private static func isInNumber(_ byte: UInt8) -> Bool { byte.isASCIIDigit || "+-.eE".utf8.contains(byte) }

    /// Deeper objects belong to the secret of the last one that is counted.
    private static var deepestJSON: Int { 10_000 }
}

extension UInt8 {
    /// Whether the byte may be a part of a name.
    var isInWord: Bool { Self.inWord[Int(self)] }

    private static let inWord = (0...255).map { (byte: UInt8) in
        byte.isASCIILetter || byte.isASCIIDigit || "_-$".utf8.contains(byte) || byte >= 0x80
    }
}
