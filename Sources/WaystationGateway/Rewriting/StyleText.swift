#if Gateway
/// The bytes of a style sheet that have arrived, and their escapes (CSS Syntax Level 3 §4.3.7).
struct StyleText {
    let bytes: UnsafeBufferPointer<UInt8>
    /// The end of the bytes that belong to the style sheet.
    let end: Int
    /// Whether the style sheet ends there.
    let isLast: Bool

    /// The end of the escape that begins with the backslash at a place; nil if more bytes are needed.
    ///
    /// A backslash before a line end is not an escape; its end is that of the line end.
    func escapeEnd(_ index: Int) -> Int? {
        var next = index + 1
        guard next < end else { return isLast ? end : nil }
        while next < end, next - index <= 6, Characters.hexValue(bytes[next]) != nil { next += 1 }
        let isHex = next > index + 1
        if isHex, next == end { return isLast ? end : nil }
        guard isHex ? Characters.isSpace(bytes[next]) : true else { return next }
        guard bytes[next] == Characters.carriageReturn else { return next + 1 }
        // A carriage return and a line feed are one line end.
        guard next + 1 < end else { return isLast ? end : nil }
        return bytes[next + 1] == Characters.lineFeed ? next + 2 : next + 1
    }

    /// Whether the backslash at a place is followed by a line end; nil if more bytes are needed.
    func isBeforeLineEnd(_ index: Int) -> Bool? {
        guard index + 1 < end else { return isLast ? false : nil }
        return Self.isLineEnd(bytes[index + 1])
    }

    /// The character of an escape, for the comparison with names of ASCII letters.
    func nameByte(_ index: Int, to end: Int) -> UInt8 {
        let code = escapedCode(index, to: end)
        return code < 0x80 ? UInt8(code) : 0xff
    }

    /// The number of the character of an escape, or the byte after the backslash.
    private func escapedCode(_ index: Int, to end: Int) -> UInt32 {
        guard index + 1 < end else { return 0xfffd }
        guard Characters.hexValue(bytes[index + 1]) != nil else { return UInt32(bytes[index + 1]) }
        var code: UInt32 = 0
        for byte in bytes[(index + 1)..<end] {
            guard let digit = Characters.hexValue(byte) else { break }
            code = code << 4 | digit
        }
        return code
    }

    /// The text of a string or a URL.
    func unescaped(_ range: Range<Int>) -> MappedBytes {
        guard bytes.first(UInt8(ascii: "\\"), from: range.lowerBound, to: range.upperBound) != nil else {
            return MappedBytes(bytes[range], at: range.lowerBound)
        }
        let part = StyleText(bytes: bytes, end: range.upperBound, isLast: true)
        var url = MappedBytes(capacity: range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\"), let end = part.escapeEnd(index) else {
                url.append(bytes[index], at: index)
                index += 1
                continue
            }
            if part.isBeforeLineEnd(index) != true, index + 1 < range.upperBound {
                let code = part.escapedCode(index, to: end)
                if Characters.hexValue(bytes[index + 1]) == nil {
                    url.append(UInt8(code), at: index)
                } else {
                    url.append(code == 0 ? "\u{fffd}" : Unicode.Scalar(code) ?? "\u{fffd}", at: index)
                }
            }
            index = end
        }
        url.end(at: range.upperBound)
        return url
    }

    static func isLineEnd(_ byte: UInt8) -> Bool {
        byte == Characters.lineFeed || byte == Characters.carriageReturn || byte == Characters.formFeed
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        Characters.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
            || byte == 0
    }
}
#endif
