import Foundation
import Synchronization

/// The characters of an encoding's codes, in the order of an index of the WHATWG Encoding standard (section 5).
///
/// The characters come from the C library's `iconv`, whose tables agree with the standard's but for the codes in
/// ``differences``; `Scripts/encoding-differences.py` compares the two. Only tables are taken from `iconv`: it reads
/// wrong bytes in other ways than browsers do.
struct CharacterTable: Sendable {
    /// An index of the standard.
    enum Index: Hashable, Sendable {
        /// The upper half of an encoding of single bytes.
        case singleByte(WebEncoding)
        case jis0208, jis0212, eucKR, big5, gb18030
        /// The codes of four bytes of gb18030 that stand for characters below U+10000.
        case gb18030FourBytes
    }

    /// The character of each pointer; 0 for a pointer without a character.
    let characters: [UInt32]

    /// The character of a pointer; nil for a pointer without a character.
    subscript(pointer: Int) -> UInt32? {
        guard characters.indices.contains(pointer), characters[pointer] != 0 else { return nil }
        return characters[pointer]
    }

    // MARK: Making

    private static let made = Mutex<[Index: CharacterTable]>([:])

    /// The table of an index, which is made once; nil if this machine's `iconv` does not have it.
    static func of(_ index: Index) -> CharacterTable? {
        if let table = made.withLock({ $0[index] }) { return table }
        // Two threads may make the same table; that is rare and harmless.
        guard let table = index == .gb18030FourBytes ? fourBytes() : CharacterTable(index) else { return nil }
        made.withLock { $0[index] = table }
        return table
    }

    private init?(_ index: Index) {
        guard let source = Source(index), var characters = source.characters() else { return nil }
        for (pointer, character) in Self.differences(of: index) { characters[pointer] = character }
        switch index {
        case .jis0208:
            // The decoder of Shift_JIS computes these characters, and no other encoding has codes for them.
            for pointer in Self.shiftJISPrivateUse { characters[pointer] = 0 }
        case .singleByte(let encoding) where encoding.rawValue.hasPrefix("windows-"):
            // The bytes without a meaning stand for control characters.
            for pointer in 0..<0x20 where characters[pointer] == 0 { characters[pointer] = UInt32(0x80 + pointer) }
        default:
            break
        }
        self.characters = characters
    }

    private init(characters: [UInt32]) {
        self.characters = characters
    }

    /// The pointers of Shift_JIS that stand for U+E000 and the characters after it.
    static let shiftJISPrivateUse = 8836...10715

    /// The standard has this table as ranges.
    ///
    /// They follow from the order of Unicode: each code stands for the next character that had no code of two bytes in
    /// the edition of 2000. The edition of 2022 has codes of two bytes for some characters, whose codes of four bytes it
    /// keeps, in place of characters for private use, which have none.
    private static func fourBytes() -> CharacterTable? {
        guard let twoBytes = of(.gb18030) else { return nil }
        var hasTwoBytes = [Bool](repeating: false, count: 0x10000)
        for character in twoBytes.characters where character < 0x10000 { hasTwoBytes[Int(character)] = true }
        for character in 0xD800...0xDFFF { hasTwoBytes[character] = true }
        for (character, pointer) in privateUseOf2005 {
            if let replacement = twoBytes[pointer] { hasTwoBytes[Int(replacement)] = false }
            hasTwoBytes[Int(character)] = true
        }
        hasTwoBytes[0xE5E5] = true
        // The only code out of order (section 5, "index gb18030 ranges code point").
        hasTwoBytes[0xE7C7] = true
        var characters = (0x80..<0x10000).filter { !hasTwoBytes[$0] }.map { UInt32($0) }
        guard characters.count > 7457 else { return nil }
        characters.insert(0xE7C7, at: 7457)
        return CharacterTable(characters: characters)
    }

    /// The characters for private use that had codes of two bytes in GB 18030-2005, with the pointers of these codes.
    ///
    /// The encoder still writes them so (section 10.2.2).
    static let privateUseOf2005: [UInt32: Int] = [
        0xE78D: 7182, 0xE78E: 7183, 0xE78F: 7184, 0xE790: 7185, 0xE791: 7186, 0xE792: 7187, 0xE793: 7188,
        0xE794: 7201, 0xE795: 7202, 0xE796: 7208, 0xE81E: 23775, 0xE826: 23783, 0xE82B: 23788, 0xE82C: 23789,
        0xE832: 23795, 0xE843: 23812, 0xE854: 23829, 0xE864: 23845,
    ]
}

/// The table of `iconv` from which an index is made.
private struct Source {
    /// The name that `iconv` knows.
    let charset: String
    /// The number of pointers.
    let count: Int
    /// The code of a pointer.
    let code: @Sendable (Int) -> [UInt8]

    init?(_ index: CharacterTable.Index) {
        switch index {
        case .singleByte(let encoding):
            charset =
                switch encoding {
                case .iso8859p8I: "ISO-8859-8"
                case .macCyrillic: "MAC-CYRILLIC"
                default: encoding.rawValue.replacing("windows-", with: "CP").uppercased()
                }
            count = 128
            code = { [UInt8(0x80 + $0)] }
        case .jis0208:
            charset = "CP932"
            count = 60 * 188
            code = { [shiftJISLead($0 / 188), UInt8($0 % 188 + ($0 % 188 < 0x3F ? 0x40 : 0x41))] }
        case .jis0212:
            charset = "EUC-JP"
            count = 94 * 94
            code = { [0x8F, UInt8($0 / 94 + 0xA1), UInt8($0 % 94 + 0xA1)] }
        case .eucKR:
            charset = "UHC"
            count = 126 * 190
            code = { [UInt8($0 / 190 + 0x81), UInt8($0 % 190 + 0x41)] }
        case .big5:
            charset = "BIG5-HKSCS"
            count = 126 * 157
            code = { [UInt8($0 / 157 + 0x81), UInt8($0 % 157 + ($0 % 157 < 0x3F ? 0x40 : 0x62))] }
        case .gb18030:
            charset = "GB18030"
            count = 126 * 190
            code = { [UInt8($0 / 190 + 0x81), UInt8($0 % 190 + ($0 % 190 < 0x3F ? 0x40 : 0x41))] }
        case .gb18030FourBytes:
            return nil
        }
    }

    /// The character of each pointer; nil if `iconv` does not know the charset.
    ///
    /// All codes are converted in one go, each on a line of its own. At a code without a character `iconv` stops, and is
    /// called again for the codes after it.
    func characters() -> [UInt32]? {
        guard let converter = iconv_open("UTF-32LE", charset), converter != iconv_t(bitPattern: -1) else { return nil }
        defer { iconv_close(converter) }
        let lineBreak: UInt32 = 0x0A
        var codes = (0..<count).flatMap { code($0) + [UInt8(lineBreak)] }
        let length = codes.count / count
        var characters = [UInt32](repeating: 0, count: count)
        var output = [UInt32](repeating: 0, count: codes.count)
        var pointer = 0
        while pointer < count {
            let (consumed, produced) = convert(&codes, from: pointer * length, into: &output, by: converter)
            let end = pointer + consumed / length
            for line in output[..<produced].split(separator: lineBreak, omittingEmptySubsequences: false) {
                guard pointer < end else { break }
                // A code that stands for two characters has none in the index.
                if line.count == 1, let character = line.first { characters[pointer] = UInt32(littleEndian: character) }
                pointer += 1
            }
            pointer = end + 1
        }
        return characters
    }

    /// Converts codes up to the first one that has no character.
    private func convert(
        _ codes: inout [UInt8],
        from start: Int,
        into output: inout [UInt32],
        by converter: iconv_t
    ) -> (consumed: Int, produced: Int) {
        codes.withUnsafeMutableBytes { codes in
            output.withUnsafeMutableBytes { output in
                var next = codes.baseAddress.map { ($0 + start).assumingMemoryBound(to: CChar.self) }
                var left = codes.count - start
                var free = output.baseAddress?.assumingMemoryBound(to: CChar.self)
                var room = output.count
                iconv(converter, nil, nil, nil, nil)
                iconv(converter, &next, &left, &free, &room)
                return (codes.count - start - left, (output.count - room) / MemoryLayout<UInt32>.size)
            }
        }
    }
}

/// The first byte of Shift_JIS for the number of a pair of rows.
private func shiftJISLead(_ number: Int) -> UInt8 { UInt8(number + (number < 0x1F ? 0x81 : 0xC1)) }
