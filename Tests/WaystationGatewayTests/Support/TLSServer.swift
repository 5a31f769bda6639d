#if Gateway
import Foundation
import Testing
import WaystationProcesses

/// A web server over TLS at 127.0.0.1, by openssl, which serves the files of a folder.
final class TLSServer: Sendable {
    let port: Int
    private let process: SpawnedProcess

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - certificate: The path of its certificate.
    ///   - key: The path of its key.
    ///   - chain: The path of further certificates that it sends; nil for none.
    ///   - folder: The folder.
    /// - Throws: An error when openssl does not start.
    init(certificate: String, key: String, chain: String? = nil, in folder: URL) async throws {
        let process = try SpawnedProcess(
            "/usr/bin/openssl",
            ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-WWW"]
                + (chain.map { ["-cert_chain", $0] } ?? []),
            in: folder,
            output: .lines,
            errors: .lines
        )
        self.process = process
        let line = await process.lines { $0.hasPrefix("ACCEPT ") }.last
        guard let port = line?.split(separator: ":").last.flatMap({ Int($0) }) else {
            process.send(SIGKILL)
            throw TLSServerFailure(description: "openssl s_server did not begin to listen")
        }
        self.port = port
    }

    deinit {
        process.send(SIGKILL)
        process.wait()
    }
}

struct TLSServerFailure: Error, CustomStringConvertible { let description: String }
#endif
