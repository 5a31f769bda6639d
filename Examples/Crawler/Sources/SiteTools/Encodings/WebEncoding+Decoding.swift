// The decoders of the WHATWG Encoding standard (sections 8 to 14). A wrong sequence of bytes gives one U+FFFD, and an
// ASCII byte after the first byte of a wrong sequence stands for itself, so that damage does not swallow markup.

extension WebEncoding {
    /// The bytes as UTF-8, without regard to a byte order mark.
    ///
    /// Nil if this machine's `iconv` lacks the encoding's table.
    func decoded(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var text = DecodedText(capacity: bytes.count)
        switch self {
        case .utf8:
            return Array(String(decoding: bytes, as: UTF8.self).utf8)
        case .utf16BE, .utf16LE:
            text.decodeUTF16(bytes, isBigEndian: self == .utf16BE)
        case .replacement:
            if !bytes.isEmpty { text.appendError() }
        case .userDefined:
            text.decodeSingleBytes(bytes) { 0xF780 + UInt32($0) - 0x80 }
        case .gbk, .gb18030:
            guard let twoBytes = CharacterTable.of(.gb18030), let fourBytes = CharacterTable.of(.gb18030FourBytes)
            else { return nil }
            text.decodeGB18030(bytes, twoBytes: twoBytes, fourBytes: fourBytes)
        case .big5:
            guard let table = CharacterTable.of(.big5) else { return nil }
            text.decodePairs(bytes, isLead: { (0x81...0xFE).contains($0) }) { lead, trail in
                guard let pointer = Self.big5Pointer(lead, trail) else { return nil }
                return Self.big5Pairs[pointer] ?? table[pointer].map { ($0, nil) }
            }
        case .eucKR:
            guard let table = CharacterTable.of(.eucKR) else { return nil }
            text.decodePairs(bytes, isLead: { (0x81...0xFE).contains($0) }) { lead, trail in
                guard (0x41...0xFE).contains(trail) else { return nil }
                return table[(Int(lead) - 0x81) * 190 + Int(trail) - 0x41].map { ($0, nil) }
            }
        case .shiftJIS:
            guard let table = CharacterTable.of(.jis0208) else { return nil }
            text.decodePairs(
                bytes,
                isLead: { (0x81...0x9F).contains($0) || (0xE0...0xFC).contains($0) },
                single: { $0 == 0x80 ? 0x80 : halfWidthKatakana($0) },
                pair: { lead, trail in
                    guard let pointer = Self.shiftJISPointer(lead, trail) else { return nil }
                    if CharacterTable.shiftJISPrivateUse.contains(pointer) {
                        return (UInt32(0xE000 - CharacterTable.shiftJISPrivateUse.lowerBound + pointer), nil)
                    }
                    return table[pointer].map { ($0, nil) }
                }
            )
        case .eucJP:
            guard let jis0208 = CharacterTable.of(.jis0208), let jis0212 = CharacterTable.of(.jis0212) else {
                return nil
            }
            text.decodeEUCJP(bytes, jis0208: jis0208, jis0212: jis0212)
        case .iso2022JP:
            guard let table = CharacterTable.of(.jis0208) else { return nil }
            text.decodeISO2022JP(bytes, jis0208: table)
        default:
            guard let table = CharacterTable.of(.singleByte(self)) else { return nil }
            text.decodeSingleBytes(bytes) { table[Int($0) - 0x80] }
        }
        return text.utf8
    }

    private static func big5Pointer(_ lead: UInt8, _ trail: UInt8) -> Int? {
        guard (0x40...0x7E).contains(trail) || (0xA1...0xFE).contains(trail) else { return nil }
        return (Int(lead) - 0x81) * 157 + Int(trail) - (trail < 0x7F ? 0x40 : 0x62)
    }

    /// The codes of Big5 that stand for two characters: a letter and the accent above its circumflex.
    private static let big5Pairs: [Int: (UInt32, UInt32?)] = [
        1133: (0xCA, 0x304), 1135: (0xCA, 0x30C), 1164: (0xEA, 0x304), 1166: (0xEA, 0x30C),
    ]

    private static func shiftJISPointer(_ lead: UInt8, _ trail: UInt8) -> Int? {
        guard (0x40...0x7E).contains(trail) || (0x80...0xFC).contains(trail) else { return nil }
        return (Int(lead) - (lead < 0xA0 ? 0x81 : 0xC1)) * 188 + Int(trail) - (trail < 0x7F ? 0x40 : 0x41)
    }
}

/// The half-width katakana of a byte of Shift_JIS or of EUC-JP; nil if it stands for none.
private func halfWidthKatakana(_ byte: UInt8) -> UInt32? {
    (0xA1...0xDF).contains(byte) ? 0xFF61 - 0xA1 + UInt32(byte) : nil
}

/// UTF-8 that a decoder writes.
private struct DecodedText {
    private(set) var utf8: [UInt8] = []

    init(capacity: Int) {
        utf8.reserveCapacity(capacity + capacity / 2)
    }

    mutating func append(_ character: UInt32) {
        guard character >= 0x80 else { return utf8.append(UInt8(character)) }
        guard let scalar = Unicode.Scalar(character) else { return appendError() }
        utf8.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    mutating func appendError() {
        utf8.append(contentsOf: UTF8.encodedReplacementCharacter)
    }

    mutating func decodeSingleBytes(_ bytes: UnsafeBufferPointer<UInt8>, _ upperHalf: (UInt8) -> UInt32?) {
        for byte in bytes { append(byte < 0x80 ? UInt32(byte) : upperHalf(byte) ?? 0xFFFD) }
    }

    /// Decodes an encoding whose codes have one or two bytes.
    ///
    /// `pair` returns the one or two characters of a code.
    mutating func decodePairs(
        _ bytes: UnsafeBufferPointer<UInt8>,
        isLead: (UInt8) -> Bool,
        single: (UInt8) -> UInt32? = { _ in nil },
        pair: (_ lead: UInt8, _ trail: UInt8) -> (UInt32, UInt32?)?
    ) {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte < 0x80 {
                utf8.append(byte)
            } else if let character = single(byte) {
                append(character)
            } else if isLead(byte), index < bytes.count {
                let trail = bytes[index]
                if let (first, second) = pair(byte, trail) {
                    append(first)
                    if let second { append(second) }
                    index += 1
                } else {
                    appendError()
                    if trail >= 0x80 { index += 1 }
                }
            } else {
                appendError()
            }
        }
    }

    mutating func decodeGB18030(
        _ bytes: UnsafeBufferPointer<UInt8>,
        twoBytes: CharacterTable,
        fourBytes: CharacterTable
    ) {
        let digits: ClosedRange<UInt8> = 0x30...0x39
        let leads: ClosedRange<UInt8> = 0x81...0xFE
        var index = 0
        while index < bytes.count {
            let first = bytes[index]
            index += 1
            if first < 0x80 {
                utf8.append(first)
                continue
            }
            if first == 0x80 {
                append(0x20AC)
                continue
            }
            guard leads.contains(first), index < bytes.count else {
                appendError()
                continue
            }
            let second = bytes[index]
            guard digits.contains(second) else {
                let offset = second < 0x7F ? 0x40 : 0x41
                let isTrail = (0x40...0x7E).contains(second) || (0x80...0xFE).contains(second)
                if isTrail, let character = twoBytes[(Int(first) - 0x81) * 190 + Int(second) - offset] {
                    append(character)
                    index += 1
                } else {
                    appendError()
                    if second >= 0x80 { index += 1 }
                }
                continue
            }
            // A code of four bytes that the end of the text cuts off is one error; one that goes wrong gives back all
            // bytes after the first.
            guard index + 1 < bytes.count else {
                appendError()
                return
            }
            let third = bytes[index + 1]
            guard leads.contains(third) else {
                appendError()
                continue
            }
            guard index + 2 < bytes.count else {
                appendError()
                return
            }
            let fourth = bytes[index + 2]
            guard digits.contains(fourth) else {
                appendError()
                continue
            }
            index += 3
            let pointer =
                ((Int(first) - 0x81) * 10 + Int(second) - 0x30) * 1260 + (Int(third) - 0x81) * 10 + Int(fourth) - 0x30
            if let character = fourBytes[pointer] {
                append(character)
            } else if (189_000...1_237_575).contains(pointer) {
                append(UInt32(0x10000 + pointer - 189_000))
            } else {
                appendError()
            }
        }
    }

    mutating func decodeEUCJP(
        _ bytes: UnsafeBufferPointer<UInt8>,
        jis0208: CharacterTable,
        jis0212: CharacterTable
    ) {
        let rows: ClosedRange<UInt8> = 0xA1...0xFE
        var index = 0
        while index < bytes.count {
            var lead = bytes[index]
            index += 1
            if lead < 0x80 {
                utf8.append(lead)
                continue
            }
            var table = jis0208
            if lead == 0x8F, index < bytes.count, rows.contains(bytes[index]) {
                table = jis0212
                lead = bytes[index]
                index += 1
            }
            guard rows.contains(lead) || lead == 0x8E || lead == 0x8F, index < bytes.count else {
                appendError()
                continue
            }
            let trail = bytes[index]
            let isPair = rows.contains(lead) && rows.contains(trail)
            let character =
                lead == 0x8E
                ? halfWidthKatakana(trail)
                : isPair ? table[(Int(lead) - 0xA1) * 94 + Int(trail) - 0xA1] : nil
            if let character { append(character) } else { appendError() }
            if character != nil || trail >= 0x80 { index += 1 }
        }
    }

    mutating func decodeISO2022JP(_ bytes: UnsafeBufferPointer<UInt8>, jis0208: CharacterTable) {
        enum Mode { case ascii, roman, katakana, jis0208 }
        var mode = Mode.ascii
        // Of two escape sequences without a character in between, the second one is an error, so that no markup can be
        // hidden from filters.
        var isAfterEscape = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == 0x1B {
                let next = index + 1 < bytes.count ? (bytes[index], bytes[index + 1]) : (0, 0)
                let escape: Mode? =
                    switch next {
                    case (0x28, 0x42): .ascii
                    case (0x28, 0x4A): .roman
                    case (0x28, 0x49): .katakana
                    case (0x24, 0x40), (0x24, 0x42): .jis0208
                    default: nil
                    }
                guard let escape else {
                    appendError()
                    isAfterEscape = false
                    continue
                }
                index += 2
                mode = escape
                if isAfterEscape { appendError() }
                isAfterEscape = true
                continue
            }
            isAfterEscape = false
            switch (mode, byte) {
            case (.roman, 0x5C):
                append(0xA5)
            case (.roman, 0x7E):
                append(0x203E)
            case (.ascii, 0..<0x80), (.roman, 0..<0x80):
                if byte == 0x0E || byte == 0x0F { appendError() } else { utf8.append(byte) }
            case (.katakana, 0x21...0x5F):
                append(0xFF61 - 0x21 + UInt32(byte))
            case (.jis0208, 0x21...0x7E):
                guard index < bytes.count, bytes[index] != 0x1B else {
                    appendError()
                    continue
                }
                let trail = bytes[index]
                index += 1
                let isTrail = (0x21...0x7E).contains(trail)
                let character = isTrail ? jis0208[(Int(byte) - 0x21) * 94 + Int(trail) - 0x21] : nil
                append(character ?? 0xFFFD)
            default:
                appendError()
            }
        }
    }

    mutating func decodeUTF16(_ bytes: UnsafeBufferPointer<UInt8>, isBigEndian: Bool) {
        var lead: UInt32?
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            let (high, low) = isBigEndian ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
            let unit = UInt32(high) << 8 | UInt32(low)
            if let surrogate = lead, (0xDC00...0xDFFF).contains(unit) {
                append(0x10000 + (surrogate - 0xD800) << 10 + (unit - 0xDC00))
                lead = nil
                continue
            }
            if lead != nil { appendError() }
            lead = (0xD800...0xDBFF).contains(unit) ? unit : nil
            // A trail surrogate alone is an error, as `append` says.
            if lead == nil { append(unit) }
        }
        if lead != nil || bytes.count % 2 == 1 { appendError() }
    }
}
