public import Crypto
public import Foundation

/// A public key whose signatures count (Ed25519, RFC 8032), in the text form `ed25519:<base64 of 32 bytes>`.
public struct TrustedKey: Sendable, Hashable, Codable, CustomStringConvertible, LosslessStringConvertible {
    /// A name made from the key itself: the first 16 hexadecimal digits of its SHA-256.
    public let id: String
    /// The key's 32 bytes.
    public let rawRepresentation: Data

    /// The public half of a key.
    public init(_ key: Curve25519.Signing.PublicKey) {
        rawRepresentation = key.rawRepresentation
        id = String(PackDigest(of: rawRepresentation).hex.prefix(16))
    }

    /// Reads the text form; nil when it is no such key.
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
    /// - Throws: `DecodingError` when it is no such key.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let key = TrustedKey(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "no public key: use ed25519: and 32 bytes in base64"
            )
        }
        self = key
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Whether `signature` is this key's signature of `message`.
    public func isValid(_ signature: Data, for message: Data) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: rawRepresentation) else { return false }
        return key.isValidSignature(signature, for: message)
    }
}
