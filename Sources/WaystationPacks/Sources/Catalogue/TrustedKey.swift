public import Crypto
public import Foundation

/// A public key whose signatures count (Ed25519, RFC 8032), in the text form `ed25519:<base64 of 32 bytes>`.
public struct TrustedKey: Sendable, Hashable, Codable, CustomStringConvertible, LosslessStringConvertible {
    /// An id computed from the key: the first 16 hexadecimal digits of its SHA-256.
    public let id: String
    /// The key's 32 bytes.
    public let rawRepresentation: Data

    /// Makes a trusted key from a public key.
    public init(_ key: Curve25519.Signing.PublicKey) {
        rawRepresentation = key.rawRepresentation
        id = String(PackDigest(of: rawRepresentation).hex.prefix(16))
    }

    /// Reads the text form; nil when the text is not a public key.
    public init?(_ text: String) {
        guard let bytes = KeyText.bytes(of: text, after: "ed25519:"),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
        else { return nil }
        self.init(key)
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
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: rawRepresentation) else { return false }
        return key.isValidSignature(signature, for: message)
    }
}

extension TrustedKey: CodedAsText {
    static func complaint(about text: String) -> String {
        "not a public key: use ed25519: followed by 32 bytes in base64"
    }
}
