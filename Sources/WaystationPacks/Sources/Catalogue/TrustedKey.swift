public import Foundation
import WaystationCryptography

/// A public key whose signatures count (Ed25519, RFC 8032), in the text form `ed25519:<base64 of 32 bytes>`.
public struct TrustedKey: Sendable, Hashable, Codable, CustomStringConvertible, LosslessStringConvertible {
    /// An id computed from the key: the first 16 hexadecimal digits of its SHA-256.
    public let id: String
    /// The key's 32 bytes.
    public let rawRepresentation: Data

    /// Makes a trusted key from its 32 bytes (RFC 8032 §5.1.5); nil if there are more or fewer.
    public init?(rawRepresentation: Data) {
        guard rawRepresentation.count == Signatures.keyLength else { return nil }
        self.rawRepresentation = rawRepresentation
        id = String(PackDigest(of: rawRepresentation).hex.prefix(16))
    }

    /// Reads the text form; nil when the text is not a public key.
    public init?(_ text: String) {
        guard let bytes = KeyText.bytes(of: text, after: "ed25519:") else { return nil }
        self.init(rawRepresentation: bytes)
    }

    /// The text form.
    public var description: String { "ed25519:\(rawRepresentation.base64EncodedString())" }

    /// Reads the text form.
    ///
    /// - Throws: `DecodingError` when the text is not a public key.
    public init(from decoder: any Decoder) throws { try self.init(textFrom: decoder) }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws { try encodeText(to: encoder) }

    /// Whether `signature` is this key's signature of `message`.
    public func isValid(_ signature: Data, for message: Data) -> Bool {
        Signatures.isValid(signature, of: message, by: rawRepresentation)
    }
}

extension TrustedKey: CodedAsText {
    static func complaint(about text: String) -> String {
        "not a public key: use ed25519: followed by 32 bytes in base64"
    }
}
