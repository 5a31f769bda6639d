import Foundation
import WaystationFields

/// Removes the chunked transfer coding from a body (RFC 9112 §7.1).
enum ChunkedBody {
    /// Returns the body without chunks; trailers are dropped.
    static func decode(_ data: Data) throws(ImportRefusal) -> Data {
        var result = Data()
        var rest = data[...]
        while true {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { throw cutOff }
            let line = rest[..<end]
            // The extensions of a chunk follow its size after a semicolon; they are ignored.
            let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: " ") }
            guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ $0.hexadecimalDigit != nil }),
                let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw ImportRefusal(.damagedBody, "the body has a chunk whose size is not a number") }
            rest = rest[(end + 1)...]
            if size == 0 { return result }
            guard rest.count >= size else { throw cutOff }
            result.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            if rest.first == UInt8(ascii: "\r") { rest = rest.dropFirst() }
            guard rest.first == UInt8(ascii: "\n") else {
                throw rest.isEmpty ? cutOff : ImportRefusal(.damagedBody, "a chunk of the body is longer than its size")
            }
            rest = rest.dropFirst()
        }
    }

    private static var cutOff: ImportRefusal { ImportRefusal(.incomplete, "the chunked body is cut off") }
}
