#if Gateway
import Crypto
import Foundation
import SwiftASN1
import X509

extension StoredAuthority {
    /// Makes an authority for names, and all names below them.
    ///
    /// Programs may ignore the constraint of a certificate that they trust as a root (RFC 5280 §6.1.1), but not that of an
    /// intermediate. So the root signs one intermediate, and its key ends with this call.
    ///
    /// - Parameters:
    ///   - names: The names of the constraint.
    ///   - now: The present time.
    /// - Throws: An error of the library that makes the certificates.
    init(for names: [String], now: Date) throws {
        let rootKey = P256.Signing.PrivateKey()
        let validity = (now - Self.skew, now + Self.lifetime)
        // Two authorities never have the same name, so that stores of certificates keep them apart.
        let number = String(UInt32.random(in: 0 ... .max), radix: 16)
        let rootName = try DistinguishedName { CommonName("Waystation gateway \(number), root") }
        let constraints = Self.constraints(for: names)
        root = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(rootKey.publicKey),
            notValidBefore: validity.0,
            notValidAfter: validity.1,
            issuer: rootName,
            subject: rootName,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 1))
                Critical(KeyUsage(keyCertSign: true))
                Critical(constraints)
                SubjectKeyIdentifier(hash: Certificate.PublicKey(rootKey.publicKey))
            },
            issuerPrivateKey: Certificate.PrivateKey(rootKey)
        )
        let key = P256.Signing.PrivateKey()
        self.key = key
        intermediate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: validity.0,
            notValidAfter: validity.1,
            issuer: rootName,
            subject: try DistinguishedName { CommonName("Waystation gateway \(number)") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(constraints)
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: Certificate.PublicKey(rootKey.publicKey)).keyIdentifier
                )
            },
            issuerPrivateKey: Certificate.PrivateKey(rootKey)
        )
    }

    /// The names are permitted, and all addresses are excluded: a constraint says nothing about kinds of names that it
    /// does not mention (RFC 5280 §4.2.1.10).
    private static func constraints(for names: [String]) -> NameConstraints {
        NameConstraints(
            permittedDNSDomains: names,
            // An address and its mask, all zero: every address of IPv4, and every one of IPv6.
            excludedIPRanges: [8, 32].map { ASN1OctetString(contentBytes: Array(repeating: 0, count: $0)[...]) }
        )
    }

    /// How long the certificate of a host is valid, unless the authority ends earlier.
    private static let leafLifetime = TimeInterval(7 * 86_400)

    /// Makes the certificate of a host.
    ///
    /// - Parameters:
    ///   - host: A name that the constraint permits, in canonical form.
    ///   - key: The key of the certificate.
    ///   - now: The present time.
    /// - Returns: The certificate.
    /// - Throws: An error of the library that makes it.
    func certificate(for host: String, _ key: P256.Signing.PublicKey, now: Date) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key)
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: publicKey,
            notValidBefore: max(now - Self.skew, intermediate.notValidBefore),
            notValidAfter: min(now + Self.leafLifetime, intermediate.notValidAfter),
            issuer: intermediate.subject,
            // A host's name may be longer than the name of a subject, which is left empty then (RFC 5280 §4.2.1.6).
            subject: DistinguishedName(),
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                Critical(SubjectAlternativeNames([.dnsName(host)]))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: intermediate.publicKey).keyIdentifier
                )
            },
            issuerPrivateKey: Certificate.PrivateKey(self.key)
        )
    }
}
#endif
