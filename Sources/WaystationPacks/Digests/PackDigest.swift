public import Foundation
import WaystationHTTP
public import WaystationStorage

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

    init(_ algorithm: Algorithm, bytes: some Collection<UInt8>) {
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

/// Computes a digest of bytes that arrive in parts.
public struct Digester: Sendable {
    private let algorithm: PackDigest.Algorithm
    private var state: MessageDigest

    /// Makes a digester without any bytes so far.
    public init(_ algorithm: PackDigest.Algorithm = .sha256) {
        self.algorithm = algorithm
        state = MessageDigest(algorithm == .sha256 ? .sha256 : .md5)
    }

    /// Takes the next bytes.
    public mutating func update(_ bytes: some DataProtocol) { state.update(bytes) }

    /// The digest of all bytes so far; more may follow.
    public var digest: PackDigest { PackDigest(algorithm, bytes: state.bytes) }
}

extension PackDigest {
    /// The digest of bytes in memory.
    public init(of bytes: some DataProtocol, _ algorithm: Algorithm = .sha256) {
        var digester = Digester(algorithm)
        digester.update(bytes)
        self = digester.digest
    }

    /// The digest of all bytes of a source, read in parts of 1 MiB.
    ///
    /// - Throws: The error of reading; ``PackError`` with ``PackError/Code/damaged`` when the source ends before its
    ///   length; `CancellationError` when the task is cancelled meanwhile.
    public init(of source: some ByteSource, _ algorithm: Algorithm = .sha256) throws {
        var digester = Digester(algorithm)
        var offset = 0
        while offset < source.length {
            try Task.checkCancellation()
            let part = try source.read(at: offset, count: 1 << 20)
            guard !part.isEmpty else {
                throw PackError(
                    .damaged,
                    "the source ended at byte \(offset) of \(source.length): something shortened it while it was read"
                )
            }
            digester.update(part)
            offset += part.count
        }
        self = digester.digest
    }

    /// The digest of a file.
    ///
    /// - Throws: The error of reading; `FileError` when the file cannot be opened.
    public init(ofFile url: URL, _ algorithm: Algorithm = .sha256) throws {
        try self.init(of: FileSource(url), algorithm)
    }
}

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
