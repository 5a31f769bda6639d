import Foundation
import WaystationFields

/// The name of a body file below `bodies/`, as the column `body_file` holds it: a directory of the digest's first two
/// digits, then the digest.
///
/// Equal bodies have one name, and so one file, even for different URLs, variants and partitions.
struct BodyName: Hashable, Sendable {
    /// For example `4f/4f0c9d8e…`.
    let text: String

    /// Makes the name of a body from its SHA-256.
    init(digest: [UInt8]) {
        let digits = digest.hexadecimal
        text = "\(digits.prefix(2))/\(digits)"
    }

    /// Parses a name that was read from the index or the disk.
    ///
    /// - Returns: `nil` for a name that no version of this store assigns.
    init?(_ text: String) {
        let digits = text.dropFirst(3)
        // Schema version 1 named bodies at random, with half as many digits; such a file stays as long as its row.
        guard [64, 32].contains(digits.utf8.count), digits.count == digits.utf8.count,
            text.utf8.count == digits.utf8.count + 3, text.dropFirst(2).first == "/",
            digits.hasPrefix(text.prefix(2)),
            digits.utf8.allSatisfy(\.isLowerCaseHexadecimalDigit)
        else { return nil }
        self.text = text
    }

    /// Whether a directory name below `bodies/` is one that may contain body files.
    static func isShard(_ name: String) -> Bool {
        name.utf8.count == 2 && name.utf8.allSatisfy(\.isLowerCaseHexadecimalDigit)
    }

    /// The directory below `bodies/`.
    var shard: String { String(text.prefix(2)) }

    /// The SHA-256 of the body in hexadecimal; `nil` for a random name.
    var digest: String? { text.utf8.count == 67 ? String(text.dropFirst(3)) : nil }
}
