public import Foundation

/// A payload with signatures: DSSE, the Dead Simple Signing Envelope, version 1.0.2.
///
/// ```json
/// {"payloadType": "application/vnd.waystation.catalogue+json", "payload": "eyJ…", "signatures": [{"keyid": "5f0c…", "sig": "3q2+…"}]}
/// ```
///
/// What is signed is not the JSON but the pre-authentication encoding of type and payload, so nothing has to be parsed or
/// brought into a canonical form before a signature is checked
/// (<https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md>).
public struct SignedEnvelope: Sendable, Hashable, Codable {
    /// One signature.
    public struct Signature: Sendable, Hashable, Codable {
        /// Which key made it: a hint that nothing relies on, since it is not signed itself.
        public var keyid: String?
        /// The signature, in base64.
        public var sig: String

        /// A signature.
        public init(keyid: String?, sig: String) {
            self.keyid = keyid
            self.sig = sig
        }
    }

    /// What kind of payload it is.
    public var payloadType: String
    /// The payload, in base64.
    public var payload: String
    /// The signatures; one valid one by a trusted key is enough, unless a higher number is asked for.
    public var signatures: [Signature]

    /// An envelope around a payload, signed by each key.
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

    /// More signatures than anyone has use for are refused, before time is spent on them.
    private static let signatureLimit = 64

    /// The payload, once it is known who signed it.
    ///
    /// - Parameters:
    ///   - type: The type that is expected; another one is refused.
    ///   - keys: The keys whose signatures count.
    ///   - threshold: How many different keys must have signed; 1 by default.
    /// - Returns: The payload's bytes.
    /// - Throws: ``PackError`` with ``PackError/Code/untrusted`` when too few of the keys have signed, and with
    ///   ``PackError/Code/badAnswer`` when the envelope is of another type or cannot be read.
    public func payload(ofType type: String, signedBy keys: [TrustedKey], threshold: Int = 1) throws -> Data {
        guard payloadType == type else {
            throw PackError(.badAnswer, "the envelope holds \"\(payloadType)\" where \"\(type)\" is expected")
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
            // The key id is not to be relied on, so every key is tried.
            if let signer = keys.first(where: { $0.isValid(value, for: message) }) { signers.insert(signer) }
        }
        let needed = max(1, threshold)
        guard signers.count >= needed else {
            let trusted = keys.map(\.id).joined(separator: ", ")
            let named = signatures.compactMap(\.keyid).joined(separator: ", ")
            throw PackError(
                .untrusted,
                "\(signers.count) of the trusted keys (\(trusted)) signed this, \(needed) must; it names the keys "
                    + "(\(named)): sign it with a trusted key, or trust the key that signed it"
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
