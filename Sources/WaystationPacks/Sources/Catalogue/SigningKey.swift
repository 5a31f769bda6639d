public import Foundation
import WaystationCryptography

/// A private key that signs (Ed25519, RFC 8032), in the text form `ed25519-private:<base64 of 32 bytes>`.
///
/// Anyone who has it can publish to every client that trusts its public half: store it where only the publisher can
/// read it.
public struct SigningKey: Sendable {
    private let bytes: Data
    /// The public half, for clients that should trust this key.
    public let trusted: TrustedKey

    /// Generates a new key from the system's random numbers.
    ///
    /// - Throws: ``PackError`` when the configuration of libcrypto on this machine refuses Ed25519.
    public static func generate() throws -> SigningKey {
        guard let key = SigningKey(bytes: Data(RandomBytes.make(Signatures.keyLength))) else {
            throw PackError(.invalidArgument, "libcrypto makes no Ed25519 keys on this machine: see its openssl.cnf")
        }
        return key
    }

    private init?(bytes: Data) {
        guard let half = Signatures.publicKey(of: bytes), let trusted = TrustedKey(rawRepresentation: half) else {
            return nil
        }
        self.bytes = bytes
        self.trusted = trusted
    }

    /// Reads the text form; nil when the text is not a private key.
    public init?(_ text: String) {
        guard let bytes = KeyText.bytes(of: text, after: "ed25519-private:") else { return nil }
        self.init(bytes: bytes)
    }

    /// The text form, which is secret.
    ///
    /// The type has no `description`, so that printing a key does not reveal it.
    public var secretText: String { "ed25519-private:\(bytes.base64EncodedString())" }

    /// Signs a message.
    ///
    /// - Throws: ``PackError`` when the configuration of libcrypto on this machine refuses Ed25519.
    public func signature(for message: Data) throws -> Data {
        guard let signature = Signatures.signature(of: message, by: bytes) else {
            throw PackError(.invalidArgument, "key \(trusted.id) cannot sign: see libcrypto's openssl.cnf")
        }
        return signature
    }
}
