import WaystationFields

/// A digest with the name of its algorithm, in the text form `sha256-<64 hexadecimal digits>`.
///
/// The digits are those that `sha256sum` prints. Subresource integrity has the same prefix before Base64.
///
/// MD5 is supported only for servers that offer nothing else: it detects a damaged download, not a forged one.
public struct PackDigest: Hashable, Sendable, Codable, CustomStringConvertible, LosslessStringConvertible {
    /// The supported algorithms.
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
        /// SHA-256 (FIPS 180-4).
        case sha256
        /// MD5 (RFC 1321). Collisions are easy to make, so it does not prove who made the bytes.
        case md5

        /// The length of a digest in bytes.
        public var length: Int {
            switch self {
            case .sha256: 32
            case .md5: 16
            }
        }
    }

    /// The algorithm that made the digest.
    public let algorithm: Algorithm
    /// The digest in lower-case hexadecimal digits.
    public let hex: String

    init(_ algorithm: Algorithm, bytes: some Sequence<UInt8>) {
        self.algorithm = algorithm
        hex = bytes.hexadecimal
    }

    /// Reads `sha256-…`, `md5-…`, or 64 or 32 bare hexadecimal digits, as old servers write them.
    ///
    /// Upper-case digits are converted to lower case. Nil when the text has none of these forms.
    public init?(_ text: String) {
        let digits: Substring
        if let hyphen = text.firstIndex(of: "-") {
            guard let named = Algorithm(rawValue: String(text[..<hyphen])) else { return nil }
            algorithm = named
            digits = text[text.index(after: hyphen)...]
        } else {
            guard let bare = Algorithm.allCases.first(where: { $0.length * 2 == text.utf8.count }) else { return nil }
            algorithm = bare
            digits = text[...]
        }
        guard digits.utf8.count == algorithm.length * 2, digits.utf8.allSatisfy({ $0.hexadecimalDigit != nil }) else {
            return nil
        }
        hex = digits.lowercased()
    }

    /// Algorithm and digits: `sha256-…`.
    public var description: String { "\(algorithm.rawValue)-\(hex)" }

    /// Reads the text form.
    ///
    /// - Throws: `DecodingError` when the text is not a digest.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }
}

extension PackDigest: CodedAsText {
    static func complaint(about text: String) -> String {
        "\(text.quoted()) is not a digest: use sha256- followed by 64 hexadecimal digits"
    }
}
