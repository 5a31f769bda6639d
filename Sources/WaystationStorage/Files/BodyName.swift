import Crypto
import Foundation

/// The name of a body file below `bodies/`, as `body_file` holds it: a digest below its first two digits.
///
/// Equal bodies have one name, and so one file, whichever URLs, variants and partitions they came from.
struct BodyName: Hashable, Sendable {
    /// Such as `4f/4f0c9d8e…`.
    let text: String

    init(digest: SHA256Digest) {
        let digits = digest.map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 1 ? "0" + text : text
        }.joined()
        text = "\(digits.prefix(2))/\(digits)"
    }

    /// Checks a name that was read.
    ///
    /// - Returns: `nil` for any name that no version of this store has given.
    init?(_ text: String) {
        let digits = text.dropFirst(3)
        // Schema version 1 named bodies at random, with half as many digits; such files stay as long as their rows.
        guard [64, 32].contains(digits.utf8.count), digits.count == digits.utf8.count,
            text.utf8.count == digits.utf8.count + 3, text.dropFirst(2).first == "/",
            digits.hasPrefix(text.prefix(2)),
            digits.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        self.text = text
    }

    /// Whether a directory below `bodies/` is one in which body files may be.
    static func isShard(_ name: String) -> Bool {
        name.utf8.count == 2 && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// The directory below `bodies/`.
    var shard: String { String(text.prefix(2)) }

    /// The SHA-256 of the body in hexadecimal; `nil` for a name that was given at random.
    var digest: String? { text.utf8.count == 67 ? String(text.dropFirst(3)) : nil }
}
