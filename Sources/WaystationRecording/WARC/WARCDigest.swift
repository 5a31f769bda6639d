import Foundation
import WaystationStorage

/// A digest as WARC writes it: the name of an algorithm and the digest in base32 or in hexadecimal digits (ISO 28500
/// §5.8), such as `sha1:67KNKHPOSY2YTJTZFYTPJ6AJULY4AKRP`.
///
/// Both forms of one digest are equal. Of an algorithm that is not known here, the text is compared.
struct WARCDigest: Hashable {
    private enum Value: Hashable {
        case bytes([UInt8])
        case text(String)
    }

    private let algorithm: String
    private let value: Value

    /// Reads the value of a field; a digest without the name of an algorithm is SHA-1.
    init(_ field: String) {
        let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        algorithm = parts.count == 2 ? parts[0].lowercased().filter { $0 != "-" } : "sha1"
        let text = String((parts.last ?? "").trimmingSpace())
        guard let length = Self.lengths[algorithm], let bytes = Self.bytes(text, length) else {
            value = .text(text)
            return
        }
        value = .bytes(bytes)
    }

    /// The digests of a body by the algorithms that can be computed.
    static func all(of body: Data) -> [WARCDigest] { computable.map { WARCDigest($0.name, body, $0.algorithm) } }

    private init(_ name: String, _ body: Data, _ algorithm: MessageDigest.Algorithm) {
        self.algorithm = name
        value = .bytes(MessageDigest.of(body, algorithm))
    }

    /// Whether the digest is that of these bytes; nil if it cannot be computed here.
    func matches(_ bytes: Data) -> Bool? {
        guard let known = Self.computable.first(where: { $0.name == algorithm }) else { return nil }
        return self == WARCDigest(known.name, bytes, known.algorithm)
    }

    /// Whether the digest is one of these of a body, or cannot be compared with them.
    func isOne(of digests: [WARCDigest]) -> Bool {
        let comparable = digests.filter { $0.algorithm == algorithm }
        return comparable.isEmpty || comparable.contains(self)
    }

    // The format's programs write SHA-1; it detects damage, not forgery.
    private static let computable: [(name: String, algorithm: MessageDigest.Algorithm)] = [
        ("sha1", .sha1), ("sha256", .sha256), ("md5", .md5),
    ]
    private static let lengths = ["md5": 16, "sha1": 20, "sha224": 28, "sha256": 32, "sha384": 48, "sha512": 64]

    /// The bytes of a digest; nil if the text is neither base32 nor hexadecimal digits of this length.
    private static func bytes(_ text: String, _ length: Int) -> [UInt8]? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        if digits.count == length * 2 {
            let values = digits.compactMap(\.hexadecimalDigit)
            guard values.count == digits.count else { return nil }
            return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
        }
        guard digits.count == (length * 8 + 4) / 5 else { return nil }
        // Base32 (RFC 4648 §6); its last bits are zeros.
        var bytes: [UInt8] = []
        var bits = 0
        var count = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bits = bits << 5 | Int(digit - UInt8(ascii: "A"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): bits = bits << 5 | Int(digit - UInt8(ascii: "a"))
            case UInt8(ascii: "2")...UInt8(ascii: "7"): bits = bits << 5 | Int(digit - UInt8(ascii: "2") + 26)
            default: return nil
            }
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= (1 << count) - 1
        }
        return bytes.count == length ? bytes : nil
    }
}
