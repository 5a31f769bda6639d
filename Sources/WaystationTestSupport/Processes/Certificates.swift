public import Foundation

/// Certificates for servers on loopback, made by openssl in a temporary folder.
///
/// For each name there are a certificate `name.pem` and its key `name.key`:
///
/// | name | certificate |
/// | --- | --- |
/// | `ca` | an authority; the certificates below are signed by it |
/// | `name` | for the name `localhost` |
/// | `address` | for the address `127.0.0.1` |
/// | `expired` | for both, until yesterday |
/// | `stranger` | for both, but signed by the authority `other` |
/// | `client` | for a client that shows a certificate |
public final class Certificates: Sendable {
    /// The folder of the files.
    public let folder: URL

    /// Makes the certificates, which takes a while.
    ///
    /// - Throws: ``SpawnedProcessFailure`` when openssl is not installed, or fails.
    public init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("certificates-\(UUID().uuidString)")
        // When root starts a server, the server may read files as another user.
        let open: [FileAttributeKey: Any] = [.posixPermissions: 0o755]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: open)
        for authority in ["ca", "other"] {
            try makeKey(authority)
            try openssl(
                "req -x509 -new -days 2 -subj /CN=\(authority)",
                ["-key", path("\(authority).key"), "-out", path("\(authority).pem")]
            )
        }
        try makeCertificate("name", for: "DNS:localhost")
        try makeCertificate("address", for: "IP:127.0.0.1")
        try makeCertificate("expired", for: "DNS:localhost,IP:127.0.0.1", days: -1)
        try makeCertificate("stranger", for: "DNS:localhost,IP:127.0.0.1", by: "other")
        try makeCertificate("client", for: "DNS:client")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of a file in the folder.
    public func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func makeKey(_ name: String) throws {
        try openssl("ecparam -genkey -noout -name prime256v1", ["-out", path("\(name).key")])
    }

    private func makeCertificate(
        _ name: String,
        for alternative: String,
        by authority: String = "ca",
        days: Int = 2
    ) throws {
        try makeKey(name)
        try openssl("req -new -subj /CN=\(name)", ["-key", path("\(name).key"), "-out", path("\(name).csr")])
        try Data("subjectAltName=\(alternative)\n".utf8).write(to: folder.appendingPathComponent("\(name).ext"))
        try openssl(
            "x509 -req -CAcreateserial -days \(days)",
            [
                "-in", path("\(name).csr"), "-CA", path("\(authority).pem"), "-CAkey", path("\(authority).key"),
                "-extfile", path("\(name).ext"), "-out", path("\(name).pem"),
            ]
        )
    }

    private func openssl(_ command: String, _ files: [String]) throws {
        let made = try SpawnedProcess.run("/usr/bin/openssl", command.split(separator: " ").map(String.init) + files)
        guard made.ending == .exited(0) else {
            let reason = String(decoding: made.errors, as: UTF8.self)
            throw SpawnedProcessFailure("openssl \(command) failed: \(reason)")
        }
    }
}
