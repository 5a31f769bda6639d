import Crypto
public import Foundation

/// A private key that signs (Ed25519, RFC 8032), in the text form `ed25519-private:<base64 of 32 bytes>`.
///
/// Anyone who has it can publish to every client that trusts its public half: store it where only the publisher can
/// read it.
public struct SigningKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// Generates a new key from the system's random numbers.
    public static func generate() -> SigningKey { SigningKey(key: Curve25519.Signing.PrivateKey()) }

    private init(key: Curve25519.Signing.PrivateKey) { self.key = key }

    /// Reads the text form; nil when the text is not a private key.
    public init?(_ text: String) {
        guard let bytes = KeyText.bytes(of: text, after: "ed25519-private:"),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        else { return nil }
        self.key = key
    }

    /// The text form, which is secret.
    ///
    /// The type has no `description`, so that printing a key does not reveal it.
    public var secretText: String { "ed25519-private:\(key.rawRepresentation.base64EncodedString())" }

    /// The public half, for clients that should trust this key.
    public var trusted: TrustedKey { TrustedKey(key.publicKey) }

    /// Signs a message.
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
