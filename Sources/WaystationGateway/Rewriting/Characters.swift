#if Gateway
import Foundation

/// The bytes of markup and style sheets, in every encoding that contains ASCII.
enum Characters {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let formFeed: UInt8 = 0x0c
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")

    /// Whether a byte is ASCII whitespace (Infra §4.6).
    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool {
        byte == space || byte == lineFeed || byte == tab || byte == carriageReturn || byte == formFeed
    }

    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    @inline(__always)
    static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

    /// A letter in lower case; other bytes as they are.
    @inline(__always)
    static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// The value of a hexadecimal digit.
    static func hexValue(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46, 0x61...0x66: UInt32((byte | 0x20) - 0x61 + 10)
        default: nil
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first place of a byte in a range.
    @inline(__always)
    func first(_ byte: UInt8, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = baseAddress else { return nil }
        return memchr(base + start, Int32(byte), end - start).map { UnsafeRawPointer($0) - UnsafeRawPointer(base) }
    }

    /// Whether a text begins at a place.
    ///
    /// - Parameters:
    ///   - text: The text, in lower case unless the comparison is exact.
    ///   - start: The place.
    ///   - isExact: Whether letters in upper case differ from those in lower case.
    /// - Returns: Nil if the bytes end within the text.
    func begins(with text: [UInt8], at start: Int, isExact: Bool = false) -> Bool? {
        for (index, byte) in text.enumerated() {
            guard start + index < count else { return nil }
            let found = self[start + index]
            guard (isExact ? found : Characters.lowered(found)) == byte else { return false }
        }
        return true
    }
}
#endif
