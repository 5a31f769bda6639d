import Foundation
import Testing
import WaystationProcesses
import WaystationStorage
import WaystationTestSupport

@Suite("Certificates")
struct CertificateTests {
    private let directory: TemporaryDirectory
    private static let validity =
        Date(timeIntervalSince1970: 1_700_000_000)...Date(timeIntervalSince1970: 4_000_000_000)

    init() throws { directory = try TemporaryDirectory() }

    /// What `openssl` prints, and whether it succeeds.
    private func openssl(_ arguments: String...) throws -> (isFine: Bool, text: String) {
        let outcome = try SpawnedProcess.run("/usr/bin/openssl", arguments, in: directory.url, limit: 600)
        return (outcome.ending == .exited(0), String(decoding: outcome.output + outcome.errors, as: UTF8.self))
    }

    private func authority(names: [String] = []) throws -> (Certificate, CertificateKey) {
        let key = try CertificateKey()
        return (
            try Certificate(
                .authority(below: 0, permittedNames: names),
                subject: "Authority, of ä test",
                key: key,
                validity: Self.validity
            ), key
        )
    }

    private func server(
        _ name: String,
        subject: String? = nil,
        addresses: [String] = [],
        issuer: (Certificate, CertificateKey)
    ) throws -> Certificate {
        try Certificate(
            .server(names: [name], addresses: addresses),
            subject: subject,
            key: CertificateKey(),
            validity: Self.validity,
            issuer: issuer
        )
    }

    @Test("of a server are accepted below the authority that made them, for a name that it permits")
    func chain() throws {
        let issuer = try authority(names: ["shop.example", "docs.example"])
        #expect(issuer.0.permittedNames == ["shop.example", "docs.example"])
        try directory.write(issuer.0.pem, to: "root.pem")
        for (name, address, isAccepted) in [
            ("www.shop.example", [], true), ("shop.example", [], true), ("other.example", [], false),
            ("shop.example", ["10.0.0.1"], false), ("shop.example", ["::1"], false),
        ] {
            try directory.write(server(name, addresses: address, issuer: issuer).pem, to: "leaf.pem")
            let verified = try openssl("verify", "-x509_strict", "-CAfile", "root.pem", "leaf.pem")
            #expect(verified.isFine == isAccepted, "\(name) \(address): \(verified.text)")
        }
        let other = try authority()
        let leaf = try server("shop.example", issuer: issuer)
        #expect(try leaf.isSigned(by: issuer.0))
        #expect(try !leaf.isSigned(by: other.0))
        #expect(try issuer.0.isOwned(by: issuer.1))
        #expect(try !issuer.0.isOwned(by: other.1))
    }

    @Test("have the extensions of their purpose")
    func extensions() throws {
        let issuer = try authority(names: ["shop.example"])
        try directory.write(issuer.0.pem, to: "root.pem")
        try directory.write(
            server("shop.example", subject: "shop", addresses: ["127.0.0.1"], issuer: issuer).pem,
            to: "leaf.pem"
        )
        let root = try openssl("x509", "-in", "root.pem", "-noout", "-text", "-nameopt", "utf8,-esc_msb").text
        for part in [
            "CN=Authority, of ä test", "CA:TRUE, pathlen:0", "Certificate Sign", "DNS:shop.example",
            "IP:0.0.0.0/0.0.0.0", "prime256v1", "ecdsa-with-SHA256", "Not Before: Nov 14 22:13:20 2023 GMT",
            "Not After : Oct  2 07:06:40 2096 GMT", "Subject Key Identifier",
        ] { #expect(root.contains(part), "\(part) is not in \(root)") }
        #expect(!root.contains("Authority Key Identifier"))
        let leaf = try openssl("x509", "-in", "leaf.pem", "-noout", "-text").text
        for part in [
            "CA:FALSE", "Digital Signature", "TLS Web Server Authentication", "DNS:shop.example, IP Address:127.0.0.1",
            "X509v3 Subject Alternative Name: \n", "Authority Key Identifier",
        ] { #expect(leaf.contains(part), "\(part) is not in \(leaf)") }
        // One without a subject is known by its names alone, so programs must understand them.
        try directory.write(server("shop.example", issuer: issuer).pem, to: "leaf.pem")
        let bare = try openssl("x509", "-in", "leaf.pem", "-noout", "-text").text
        #expect(bare.contains("X509v3 Subject Alternative Name: critical"))
    }

    @Test("and keys are read as they were written, and openssl reads them as well")
    func reading() throws {
        let (certificate, key) = try authority(names: ["shop.example"])
        let (again, keyAgain) = (try Certificate(pem: certificate.pem), try CertificateKey(pem: key.pem))
        #expect(again.pem == certificate.pem && again.permittedNames == ["shop.example"])
        #expect(again.notBefore == Self.validity.lowerBound && again.notAfter == Self.validity.upperBound)
        #expect(try again.isOwned(by: keyAgain))
        try directory.write(key.pem, to: "key.pem")
        #expect(try openssl("pkey", "-in", "key.pem", "-noout", "-check").isFine)
        try directory.write(certificate.der, to: "root.der")
        #expect(try openssl("x509", "-inform", "DER", "-in", "root.der", "-noout").isFine)
    }

    @Test(
        "are not made for text that is more than a name",
        arguments: ["a.example,IP:10.0.0.1", "a b", "", "ä.example"]
    )
    func names(name: String) throws {
        let issuer = try authority()
        let error = #expect(throws: CertificateError.self) { try server(name, issuer: issuer) }
        #expect(error?.description.contains("cannot be the name of a host") == true)
        #expect(throws: CertificateError.self) { try authority(names: [name]) }
    }

    @Test("are not read from other text, and an encrypted key is refused without a question on the terminal")
    func damaged() throws {
        for text in ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let error = #expect(throws: CertificateError.self) { try Certificate(pem: text) }
            #expect(error?.description.hasPrefix("reading a certificate failed in libcrypto") == true)
            #expect(throws: CertificateError.self) { try CertificateKey(pem: text) }
        }
        try directory.write(CertificateKey().pem, to: "key.pem")
        let encrypted = try openssl("pkcs8", "-topk8", "-in", "key.pem", "-passout", "pass:secret")
        #expect(encrypted.text.contains("ENCRYPTED"))
        #expect(throws: CertificateError.self) { try CertificateKey(pem: encrypted.text) }
    }
}
