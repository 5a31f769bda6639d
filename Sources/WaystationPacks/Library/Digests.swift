import Crypto
import Foundation
import WaystationFileSystem

/// Bytes as lower-case hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

extension Data {
    /// The bytes that hexadecimal digits stand for; other characters end it.
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

extension ByteSource {
    /// The SHA-256 of all bytes, read in pieces.
    func sha256() throws -> String {
        var hash = SHA256()
        var offset = 0
        while offset < length {
            let part = try read(at: offset, count: 256 << 10)
            guard !part.isEmpty else { break }
            hash.update(data: part)
            offset += part.count
        }
        return hexadecimal(hash.finalize())
    }
}
