public import Foundation
import WaystationFields

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
