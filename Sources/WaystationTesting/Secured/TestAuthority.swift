#if NIO
import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// An authority for the origins of tests, which lives as long as the process and is stored nowhere.
struct TestAuthority {
    private let key: P256.Signing.PrivateKey
    private let certificate: Certificate

    init() throws {
        let key = P256.Signing.PrivateKey()
        self.key = key
        let name = try DistinguishedName { CommonName("Waystation test authority") }
        certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Self.validity.lowerBound,
            notValidAfter: Self.validity.upperBound,
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                SubjectKeyIdentifier(hash: Certificate.PublicKey(key.publicKey))
            },
            issuerPrivateKey: Certificate.PrivateKey(key)
        )
    }

    /// A test may set its clock back, and a process may run for long.
    private static let validity = (Date.now - 86_400)...(Date.now + 30 * 86_400)

    /// The certificate in PEM form.
    var pem: String { get throws { try certificate.serializeAsPEM().pemString } }

    /// The certificate in DER form.
    var der: Data {
        get throws {
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return Data(serializer.serializedBytes)
        }
    }

    /// The settings of TLS of a server for `localhost` and `127.0.0.1`.
    func makeContext(protocols: [String]) throws -> NIOSSLContext {
        let key = P256.Signing.PrivateKey()
        let leaf = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Self.validity.lowerBound,
            notValidAfter: Self.validity.upperBound,
            issuer: certificate.subject,
            subject: try DistinguishedName { CommonName("localhost") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames([
                    .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                ])
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: certificate.publicKey).keyIdentifier
                )
            },
            issuerPrivateKey: Certificate.PrivateKey(self.key)
        )
        let chain = Array(try leaf.serializeAsPEM().pemString.utf8)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: chain, format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem))
        )
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }
}
#endif
