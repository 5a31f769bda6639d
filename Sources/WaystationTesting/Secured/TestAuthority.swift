#if NIO
import Foundation
import NIOSSL
import WaystationCryptography

/// An authority for the origins of tests, which lives as long as the process and is stored nowhere.
struct TestAuthority {
    private let key: CertificateKey
    private let certificate: Certificate

    /// A test may set its clock back, and a process may run for long.
    private static let validity = (Date.now - 86_400)...(Date.now + 30 * 86_400)

    init() throws {
        key = try CertificateKey()
        certificate = try Certificate(
            .authority(below: 0),
            subject: "Waystation test authority",
            key: key,
            validity: Self.validity
        )
    }

    /// The certificate in PEM form.
    var pem: String { certificate.pem }

    /// The certificate in DER form.
    var der: Data { certificate.der }

    /// The settings of TLS of a server for `localhost` and `127.0.0.1`.
    func makeContext(protocols: [String]) throws -> NIOSSLContext {
        let key = try CertificateKey()
        let leaf = try Certificate(
            .server(names: ["localhost"], addresses: ["127.0.0.1"]),
            subject: "localhost",
            key: key,
            validity: Self.validity,
            issuer: (certificate, self.key)
        )
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(leaf.pem.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pem.utf8), format: .pem))
        )
        configuration.applicationProtocols = protocols
        return try NIOSSLContext(configuration: configuration)
    }
}
#endif
