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

/// A private key that signs (Ed25519, RFC 8032), in the text form `ed25519-private:<base64 of 32 bytes>`.
///
/// Whoever has it can publish to every client that trusts its public half: keep it where only the publisher reads it.
public struct SigningKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// A new key, from the system's random numbers.
    public static func generate() -> SigningKey { SigningKey(key: Curve25519.Signing.PrivateKey()) }

    private init(key: Curve25519.Signing.PrivateKey) { self.key = key }

    /// Reads the text form; nil when it is no such key.
    public init?(_ text: String) {
        guard let bytes = KeyText.bytes(of: text, after: "ed25519-private:"),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.key = key
    }

    /// The text form: a secret.
    ///
    /// It is no `description`, so that printing a key tells nothing.
    public var secretText: String { "ed25519-private:\(key.rawRepresentation.base64EncodedString())" }

    /// The public half, for those who are to trust this key.
    public var trusted: TrustedKey { TrustedKey(key.publicKey) }

    /// The signature of a message.
    ///
    /// - Throws: ``PackError`` when the system has no random numbers.
    public func signature(for message: Data) throws -> Data {
        do {
            return try key.signature(for: message)
        } catch {
            throw PackError(.invalidArgument, "key \(trusted.id) cannot sign", cause: error)
        }
    }
}

private enum KeyText {
    static func bytes(of text: String, after prefix: String) -> Data? {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.hasPrefix(prefix), let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            bytes.count == 32
        else { return nil }
        return bytes
    }
}
