import Foundation

extension Data {
    /// Decodes hexadecimal digits; stops at the first character that is not one.
    init(hexadecimal text: String) {
        var bytes: [UInt8] = []
        var digits = text.utf8.makeIterator()
        while let high = digits.next().flatMap(Self.value), let low = digits.next().flatMap(Self.value) {
            bytes.append(high << 4 | low)
        }
        self.init(bytes)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map { UInt8($0) }
    }
}
