import Foundation
import WaystationCryptography
import WaystationFields

extension WARCRecord {
    /// Whether the block matches `WARC-Block-Digest`; true when there is no digest that can be checked.
    var isIntact: Bool {
        guard let block, let digest = self["WARC-Block-Digest"], let colon = digest.firstIndex(of: ":") else {
            return true
        }
        let stated = digest[digest.index(after: colon)...]
        let actual: [UInt8]
        switch digest[..<colon].lowercased() {
        // The format's programs write SHA-1; it detects damage, not forgery.
        case "sha1": actual = MessageDigest.of(block, .sha1)
        case "sha256", "sha-256": actual = MessageDigest.of(block)
        case "md5": actual = MessageDigest.of(block, .md5)
        default: return true
        }
        return stated.lowercased() == actual.hexadecimal
            || stated.uppercased().prefix { $0 != "=" } == Self.base32(actual)
    }

    /// Base32 without padding (RFC 4648 §6).
    private static func base32(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var text = ""
        var bits = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | Int(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(letters[bits >> count & 31])
            }
            bits &= (1 << count) - 1
        }
        if count > 0 { text.append(letters[bits << (5 - count) & 31]) }
        return text
    }
}
