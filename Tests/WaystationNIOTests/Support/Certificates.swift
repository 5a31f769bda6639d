#if NIO
import Foundation
import NIOSSL

/// Certificates for tests, made by openssl in a temporary folder.
final class Certificates: Sendable {
    let folder: URL

    /// An authority that the tests trust, and its certificates; they are made once, because that takes a while.
    static let shared = Result { try Certificates() }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for authority in ["ca", "other"] {
            try makeKey(authority)
            try openssl(
                "req",
                "-x509",
                "-new",
                "-key",
                path("\(authority).key"),
                "-subj",
                "/CN=\(authority)",
                "-days",
                "2",
                "-out",
                path("\(authority).pem")
            )
        }
        try makeCertificate("name", alternative: "DNS:localhost")
        try makeCertificate("address", alternative: "IP:127.0.0.1")
        try makeCertificate("expired", alternative: "DNS:localhost,IP:127.0.0.1", days: -1)
        try makeCertificate("stranger", alternative: "DNS:localhost,IP:127.0.0.1", authority: "other")
        try makeCertificate("client", alternative: "DNS:client")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// The TLS context of a server.
    func server(_ name: String, wantsClient: Bool = false, protocols: [String] = []) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(path("\(name).pem")).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: path("\(name).key"), format: .pem))
        )
        configuration.applicationProtocols = protocols
        if wantsClient {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .file(path("ca.pem"))
        }
        return try NIOSSLContext(configuration: configuration)
    }

    private func makeKey(_ name: String) throws {
        try openssl("ecparam", "-genkey", "-name", "prime256v1", "-out", path("\(name).key"))
    }

    private func makeCertificate(
        _ name: String,
        alternative: String,
        authority: String = "ca",
        days: Int = 2
    ) throws {
        try makeKey(name)
        try openssl("req", "-new", "-key", path("\(name).key"), "-subj", "/CN=\(name)", "-out", path("\(name).csr"))
        try Data("subjectAltName=\(alternative)\n".utf8).write(to: folder.appendingPathComponent("\(name).ext"))
        try openssl(
            "x509",
            "-req",
            "-in",
            path("\(name).csr"),
            "-CA",
            path("\(authority).pem"),
            "-CAkey",
            path("\(authority).key"),
            "-CAcreateserial",
            "-days",
            "\(days)",
            "-extfile",
            path("\(name).ext"),
            "-out",
            path("\(name).pem")
        )
    }

    private func openssl(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw OpensslFailure(arguments: arguments) }
    }

    struct OpensslFailure: Error {
        var arguments: [String]
    }
}
#endif
