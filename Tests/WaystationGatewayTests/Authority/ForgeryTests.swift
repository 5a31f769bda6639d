#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationTestSupport

/// Someone who has stolen the key of an authority signs certificates with it.
@Suite("A certificate that is signed with the authority's key", .timeLimit(.minutes(10)))
struct ForgeryTests {
    private let folder: TemporaryFolder
    private let authority: CertificateAuthority

    init() throws {
        folder = try TemporaryFolder()
        authority = try CertificateAuthority.open(
            in: folder.url.appending(path: "authority"),
            for: [.allow("https://shop.example/**", via: .nowhere)]
        )
        try folder.write(Data("<p id=forged>forged</p>".utf8), to: "page.html")
    }

    private func openssl(_ arguments: [String]) async throws -> SpawnedProcessOutcome {
        try await Programs.run("/usr/bin/openssl", arguments)
    }

    /// Signs a certificate with the stored key.
    ///
    /// - Parameters:
    ///   - subject: The subject, in the form of openssl.
    ///   - extensions: The extensions, in the form of openssl's configuration.
    /// - Throws: An error when openssl fails.
    private func sign(subject: String, _ extensions: String) async throws {
        try folder.write(Data((extensions + "\n").utf8), to: "extensions")
        let stored = folder.path("authority/authority.pem")
        for command in [
            ["x509", "-in", stored, "-out", folder.path("chain.pem")],
            [
                "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
                "-keyout", folder.path("key.pem"), "-out", folder.path("request.pem"),
            ],
            [
                "x509", "-req", "-in", folder.path("request.pem"), "-CA", folder.path("chain.pem"), "-CAkey", stored,
                "-set_serial", "7", "-days", "2", "-extfile", folder.path("extensions"),
                "-out", folder.path("forged.pem"),
            ],
        ] {
            let made = try await openssl(command)
            try #require(made.ending == .exited(0), "\(command): \(made.errorText)")
        }
    }

    /// The output of openssl, which checks the certificate against the root.
    private func verification() async throws -> String {
        let checked = try await openssl([
            "verify", "-CAfile", authority.rootCertificate.path, "-untrusted", folder.path("chain.pem"),
            folder.path("forged.pem"),
        ])
        return checked.text + checked.errorText
    }

    private func server() async throws -> TLSServer {
        try await TLSServer(
            certificate: folder.path("forged.pem"),
            key: folder.path("key.pem"),
            chain: folder.path("chain.pem"),
            in: folder.url
        )
    }

    @Test(
        "is refused by openssl, unless it is for a host of the rules",
        arguments: [
            ("/", "subjectAltName=critical,DNS:shop.example", "OK"),
            ("/", "subjectAltName=critical,DNS:a.shop.example", "OK"),
            ("/", "subjectAltName=critical,DNS:evil.example", "permitted subtree violation"),
            ("/", "subjectAltName=critical,DNS:shop.example,DNS:evil.example", "permitted subtree violation"),
            ("/", "subjectAltName=critical,DNS:*.example", "permitted subtree violation"),
            ("/", "subjectAltName=critical,DNS:evilshop.example", "permitted subtree violation"),
            ("/", "subjectAltName=critical,IP:127.0.0.1", "excluded subtree violation"),
            ("/", "subjectAltName=critical,IP:::1", "excluded subtree violation"),
            ("/CN=evil.example", "basicConstraints=CA:FALSE", "permitted subtree violation"),
        ]
    )
    func checked(subject: String, names: String, finding: String) async throws {
        try await sign(subject: subject, names)
        let found = try await verification()
        #expect(found.contains(finding), "\(found)")
    }

    @Test("makes no further authority")
    func subordinate() async throws {
        try await sign(subject: "/CN=another", "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign")
        let copied = try Data(contentsOf: folder.url.appending(path: "forged.pem"))
        try folder.write(copied, to: "another.pem")
        try FileManager.default.copyItem(atPath: folder.path("key.pem"), toPath: folder.path("another.key"))
        let leaf = try await openssl([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/", "-days",
            "2",
            "-addext", "subjectAltName=critical,DNS:shop.example", "-CA", folder.path("another.pem"),
            "-CAkey", folder.path("another.key"), "-keyout", folder.path("leaf.key"), "-out", folder.path("forged.pem"),
        ])
        try #require(leaf.ending == .exited(0), "\(leaf.errorText)")
        try folder.write(try Data(contentsOf: folder.url.appending(path: "chain.pem")) + copied, to: "chain.pem")
        #expect(try await verification().contains("path length constraint exceeded"))
    }

    /// Asks the server as if it were a host.
    private func curl(_ host: String, at server: TLSServer) async throws -> SpawnedProcessOutcome {
        try await Programs.curl([
            "--cacert", authority.rootCertificate.path, "--connect-to", "\(host):443:127.0.0.1:\(server.port)",
            "https://\(host)/page.html",
        ])
    }

    @Test("is refused by curl for another host, and taken for one of the rules")
    func curl() async throws {
        try await sign(subject: "/", "subjectAltName=critical,DNS:shop.example")
        let own = try await curl("shop.example", at: server())
        #expect(own.text == "<p id=forged>forged</p>", "\(own.errorText)")
        try await sign(subject: "/", "subjectAltName=critical,DNS:evil.example")
        let foreign = try await curl("evil.example", at: server())
        #expect(foreign.ending == .exited(60))
        #expect(foreign.errorText.contains("permitted subtree violation"), "\(foreign.errorText)")
        #expect(foreign.output.isEmpty)
    }

    @Test("is refused by Chromium for another host, and taken for one of the rules")
    func chromium() async throws {
        let user = try ChromiumUser()
        try await user.run(authority.trustSteps[0].install)
        try await sign(subject: "/", "subjectAltName=critical,DNS:shop.example")
        let own = try await server()
        let shown = try await user.show(
            "https://shop.example/page.html",
            ["--host-resolver-rules=MAP shop.example:443 127.0.0.1:\(own.port)"]
        )
        #expect(shown.document.contains("id=\"forged\""), "\(shown.errors)")
        try await sign(subject: "/", "subjectAltName=critical,DNS:evil.example")
        let foreign = try await server()
        let refused = try await user.show(
            "https://evil.example/page.html",
            ["--host-resolver-rules=MAP evil.example:443 127.0.0.1:\(foreign.port)"]
        )
        #expect(!refused.document.contains("forged"))
        #expect(refused.errors.contains("ERR_CERT_INVALID"), "\(refused.errors)")
    }
}
#endif
