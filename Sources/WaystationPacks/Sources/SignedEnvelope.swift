public import Foundation
import WaystationHTTP
import WaystationStorage

/// A payload with signatures: DSSE, the Dead Simple Signing Envelope, version 1.0.2.
///
/// ```json
/// {"payloadType": "application/vnd.waystation.catalogue+json", "payload": "eyJ…", "signatures": [{"keyid": "5f0c…", "sig": "3q2+…"}]}
/// ```
///
/// The signature covers the pre-authentication encoding of type and payload, not the JSON, so nothing has to be parsed
/// or canonicalised before a signature is checked
/// (<https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md>).
public struct SignedEnvelope: Sendable, Hashable, Codable {
    /// One signature.
    public struct Signature: Sendable, Hashable, Codable {
        /// The id of the key that made it: only a hint, since it is not signed itself.
        public var keyid: String?
        /// The signature, in base64.
        public var sig: String

        /// Makes a signature.
        public init(keyid: String?, sig: String) {
            self.keyid = keyid
            self.sig = sig
        }
    }

    /// The media type of the payload.
    public var payloadType: String
    /// The payload, in base64.
    public var payload: String
    /// The signatures; one valid signature by a trusted key is enough, unless a higher threshold is set.
    public var signatures: [Signature]

    /// Makes an envelope for a payload, signed by each key.
    ///
    /// - Throws: ``PackError`` when a key cannot sign.
    public init(_ payload: Data, type: String, signedBy keys: [SigningKey]) throws {
        payloadType = type
        self.payload = payload.base64EncodedString()
        let message = Self.preAuthenticationEncoding(type: type, payload: payload)
        signatures = try keys.map { key in
            Signature(keyid: key.trusted.id, sig: try key.signature(for: message).base64EncodedString())
        }
    }

    /// The bytes that are signed: `DSSEv1 <length of type> <type> <length of payload> <payload>`, lengths in bytes.
    public static func preAuthenticationEncoding(type: String, payload: Data) -> Data {
        var message = Data("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8)
        message.append(payload)
        return message
    }

    /// The maximum number of signatures; an envelope with more is refused before any is verified.
    private static let signatureLimit = 64

    /// Verifies the signatures, and returns the payload.
    ///
    /// - Parameters:
    ///   - type: The expected type; an envelope of another type is refused.
    ///   - keys: The trusted keys.
    ///   - threshold: How many different keys must have signed; 1 by default.
    /// - Returns: The payload's bytes.
    /// - Throws: ``PackError`` with ``PackError/Code/untrusted`` when too few of the keys have signed, and with
    ///   ``PackError/Code/badAnswer`` when the envelope has another type or cannot be read.
    public func payload(ofType type: String, signedBy keys: [TrustedKey], threshold: Int = 1) throws -> Data {
        guard payloadType == type else {
            throw PackError(.badAnswer, "the envelope holds \(payloadType.quoted()) but \"\(type)\" is expected")
        }
        guard let bytes = Data(anyBase64: payload) else {
            throw PackError(.badAnswer, "the envelope's payload is not in base64")
        }
        guard signatures.count <= Self.signatureLimit else {
            throw PackError(.badAnswer, "the envelope has \(signatures.count) signatures; at most 64 are read")
        }
        let message = Self.preAuthenticationEncoding(type: payloadType, payload: bytes)
        var signers: Set<TrustedKey> = []
        for signature in signatures {
            guard let value = Data(anyBase64: signature.sig) else { continue }
            // The key id is not trustworthy, so every key is tried.
            if let signer = keys.first(where: { $0.isValid(value, for: message) }) { signers.insert(signer) }
        }
        let needed = max(1, threshold)
        guard signers.count >= needed else {
            let trusted = keys.map(\.id).joined(separator: ", ")
            let named = signatures.compactMap { $0.keyid?.shown() }.joined(separator: ", ").shown(upTo: 400)
            throw PackError(
                .untrusted,
                "\(signers.count) of the trusted keys (\(trusted)) signed this, but \(needed) must; "
                    + "the signatures name the keys (\(named)): "
                    + "sign it with a trusted key, or trust the key that signed it"
            )
        }
        return bytes
    }
}

extension Data {
    /// DSSE allows both alphabets of RFC 4648, §4 and §5; padding may be left out of the second.
    fileprivate init?(anyBase64 text: String) {
        var standard = text.replacing("-", with: "+").replacing("_", with: "/")
        if standard.utf8.count % 4 != 0, !standard.hasSuffix("=") {
            standard += String(repeating: "=", count: 4 - standard.utf8.count % 4)
        }
        self.init(base64Encoded: standard)
    }
}

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

/// The text forms of keys: a prefix for the kind of key, and 32 bytes in base64.
enum KeyText {
    static func bytes(of text: String, after prefix: String) -> Data? {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.hasPrefix(prefix), let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            bytes.count == 32
        else { return nil }
        return bytes
    }
}
