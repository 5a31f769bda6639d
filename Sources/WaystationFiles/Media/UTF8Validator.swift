import Foundation

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
