import Synchronization

// The encoders of the WHATWG Encoding standard (sections 9 to 14), for the one place where the web still encodes: the
// query of a link is sent in the encoding of the page.

extension WebEncoding {
    /// The query of a link in this encoding: characters outside ASCII are percent-encoded (WHATWG URL, section 4.4,
    /// "query state").
    ///
    /// A character that the encoding does not have becomes a numeric character reference, percent-encoded. ASCII stays
    /// as it is. Nil if the query stays UTF-8: in the Unicode encodings, and if this machine lacks the encoding's table.
    func percentEncodedQuery(_ query: Substring) -> String? {
        guard !query.utf8.allSatisfy({ $0 < 0x80 }), var encoder = QueryEncoder(self) else { return nil }
        for scalar in query.unicodeScalars { encoder.append(scalar.value) }
        encoder.finish()
        return String(decoding: encoder.query, as: UTF8.self)
    }
}

private struct QueryEncoder {
    private(set) var query: [UInt8] = []
    private let encoding: WebEncoding
    /// The pointer of each character that the encoding has.
    private let pointers: [UInt32: Int]
    /// The character set that the last escape sequence of ISO-2022-JP selected.
    private var mode = Mode.ascii

    private enum Mode { case ascii, roman, jis0208 }

    init?(_ encoding: WebEncoding) {
        guard let pointers = Self.pointers(of: encoding) else { return nil }
        self.encoding = encoding
        self.pointers = pointers
    }

    private static let made = Mutex<[WebEncoding: [UInt32: Int]]>([:])

    /// The pointers of an encoding's characters; nil for Unicode, and if this machine lacks the encoding's table.
    private static func pointers(of encoding: WebEncoding) -> [UInt32: Int]? {
        if let pointers = made.withLock({ $0[encoding] }) { return pointers }
        var pointers: [UInt32: Int] = [:]
        /// Of several codes of a character, the first one is written.
        func add(_ index: CharacterTable.Index, without excluded: Range<Int> = 0..<0, startingAt start: Int = 0) -> Bool
        {
            guard let table = CharacterTable.of(index) else { return false }
            for (pointer, character) in table.characters.enumerated()
            where character != 0 && !excluded.contains(pointer) && pointers[character] == nil {
                pointers[character] = start + pointer
            }
            return true
        }
        switch encoding {
        case .utf8, .utf16BE, .utf16LE, .replacement:
            return nil
        case .userDefined:
            for byte in 0..<0x80 { pointers[UInt32(0xF780 + byte)] = byte }
        case .gbk, .gb18030:
            guard add(.gb18030) else { return nil }
            pointers.merge(CharacterTable.privateUseOf2005) { $1 }
            guard encoding == .gbk || add(.gb18030FourBytes, startingAt: fourByteStart) else { return nil }
        case .big5:
            // The codes of the Hong Kong supplement are only read ("index Big5 pointer").
            guard add(.big5, without: 0..<(0xA1 - 0x81) * 157), let table = CharacterTable.of(.big5) else { return nil }
            // Of these characters the last code is written.
            for character: UInt32 in [0x2550, 0x255E, 0x2561, 0x256A, 0x5341, 0x5345] {
                pointers[character] = table.characters.lastIndex(of: character)
            }
        case .eucKR:
            guard add(.eucKR) else { return nil }
        case .eucJP, .iso2022JP:
            guard add(.jis0208) else { return nil }
        case .shiftJIS:
            // Of the characters that NEC and IBM both added, IBM's codes are written ("index Shift_JIS pointer").
            guard add(.jis0208, without: 8272..<8836) else { return nil }
        default:
            guard add(.singleByte(encoding)) else { return nil }
        }
        made.withLock { $0[encoding] = pointers }
        return pointers
    }

    /// The number that is added to the pointers of gb18030's codes of four bytes.
    private static let fourByteStart = 1 << 16

    mutating func append(_ character: UInt32) {
        if encoding == .iso2022JP { return appendISO2022JP(character) }
        if character < 0x80 {
            query.append(UInt8(character))
        } else if let code = code(of: character) {
            append(code)
        } else {
            appendReference(to: character)
        }
    }

    mutating func finish() {
        if encoding == .iso2022JP { select(.ascii) }
    }

    private func code(of character: UInt32) -> [UInt8]? {
        switch encoding {
        case .gbk, .gb18030:
            return gb18030(character)
        case .big5:
            return pointers[character].map {
                [UInt8($0 / 157 + 0x81), UInt8($0 % 157 + ($0 % 157 < 0x3F ? 0x40 : 0x62))]
            }
        case .eucKR:
            return pointers[character].map { [UInt8($0 / 190 + 0x81), UInt8($0 % 190 + 0x41)] }
        case .eucJP:
            switch character {
            case 0xA5: return [0x5C]
            case 0x203E: return [0x7E]
            case 0xFF61...0xFF9F: return [0x8E, UInt8(character - 0xFF61 + 0xA1)]
            default: return japanesePointer(of: character).map { [UInt8($0 / 94 + 0xA1), UInt8($0 % 94 + 0xA1)] }
            }
        case .shiftJIS:
            switch character {
            case 0x80: return [0x80]
            case 0xA5: return [0x5C]
            case 0x203E: return [0x7E]
            case 0xFF61...0xFF9F: return [UInt8(character - 0xFF61 + 0xA1)]
            default: return shiftJIS(character)
            }
        default:
            return pointers[character].map { [UInt8($0 + 0x80)] }
        }
    }

    // MARK: Encodings of several bytes

    private func gb18030(_ character: UInt32) -> [UInt8]? {
        if encoding == .gbk, character == 0x20AC { return [0x80] }
        let isAboveTables = encoding == .gb18030 && character >= 0x10000
        let above = isAboveTables ? Self.fourByteStart + 189_000 + Int(character) - 0x10000 : nil
        guard let pointer = pointers[character] ?? above else { return nil }
        let four = pointer - Self.fourByteStart
        guard four >= 0 else {
            return [UInt8(pointer / 190 + 0x81), UInt8(pointer % 190 + (pointer % 190 < 0x3F ? 0x40 : 0x41))]
        }
        return [
            UInt8(four / 12_600 + 0x81), UInt8(four / 1260 % 10 + 0x30), UInt8(four / 10 % 126 + 0x81),
            UInt8(four % 10 + 0x30),
        ]
    }

    private func japanesePointer(of character: UInt32) -> Int? {
        pointers[character == 0x2212 ? 0xFF0D : character]
    }

    private func shiftJIS(_ character: UInt32) -> [UInt8]? {
        japanesePointer(of: character).map {
            let lead = $0 / 188
            let trail = $0 % 188
            return [UInt8(lead + (lead < 0x1F ? 0x81 : 0xC1)), UInt8(trail + (trail < 0x3F ? 0x40 : 0x41))]
        }
    }

    private mutating func appendISO2022JP(_ character: UInt32) {
        switch character {
        case 0x0E, 0x0F, 0x1B:
            // These could be read as a part of an escape sequence.
            if mode == .jis0208 { select(.ascii) }
            appendReference(to: 0xFFFD)
        case 0x5C, 0x7E:
            select(.ascii)
            query.append(UInt8(character))
        case ..<0x80:
            if mode == .jis0208 { select(.ascii) }
            query.append(UInt8(character))
        case 0xA5, 0x203E:
            select(.roman)
            query.append(character == 0xA5 ? 0x5C : 0x7E)
        default:
            let isHalfWidth = (0xFF61...0xFF9F).contains(character)
            let wanted = isHalfWidth ? Self.fullWidthKatakana[Int(character - 0xFF61)] : character
            if let pointer = japanesePointer(of: wanted) {
                select(.jis0208)
                append([UInt8(pointer / 94 + 0x21), UInt8(pointer % 94 + 0x21)])
            } else {
                if mode == .jis0208 { select(.ascii) }
                appendReference(to: character)
            }
        }
    }

    private mutating func select(_ mode: Mode) {
        guard mode != self.mode else { return }
        self.mode = mode
        switch mode {
        case .ascii: append([0x1B, 0x28, 0x42])
        case .roman: append([0x1B, 0x28, 0x4A])
        case .jis0208: append([0x1B, 0x24, 0x42])
        }
    }

    /// The characters for U+FF61 to U+FF9F, of which ISO-2022-JP has only the full-width forms ("index ISO-2022-JP
    /// katakana").
    private static let fullWidthKatakana: [UInt32] = """
        。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜
        """.unicodeScalars.map(\.value)

    // MARK: Percent-encoding

    /// Percent-encodes the bytes of a code, but those that a query may contain.
    private mutating func append(_ code: [UInt8]) {
        for byte in code {
            switch byte {
            case ...0x20, 0x7F..., UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "'"), UInt8(ascii: "<"),
                UInt8(ascii: ">"):
                PercentEncoding.append(encoded: byte, to: &query)
            default:
                query.append(byte)
            }
        }
    }

    /// Appends `&#NNNN;` with its marks percent-encoded.
    private mutating func appendReference(to character: UInt32) {
        query += "%26%23\(character)%3B".utf8
    }
}
