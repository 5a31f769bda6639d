import Foundation
import NIOSSL
import WaystationProcesses
import WaystationTestSupport

/// A certificate for `localhost` that openssl signs with its own key.
struct Certificate {
    struct Failure: Error {}

    /// One certificate for all tests, because making it takes a while.
    static let shared = Result { try Certificate() }

    let path: String
    private let keyPath: String

    private init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("certificate.pem").path
        keyPath = folder.appendingPathComponent("key.pem").path
        let outcome = try SpawnedProcess.run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", keyPath, "-out", path,
            ]
        )
        guard outcome.ending == .exited(0) else { throw Failure() }
    }

    /// The TLS configuration of a server.
    func configuration() throws -> TLSConfiguration {
        .makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: keyPath, format: .pem))
        )
    }
}
