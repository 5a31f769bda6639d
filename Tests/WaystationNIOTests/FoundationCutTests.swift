#if NIO
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationProcesses
import WaystationTestSupport

/// Runs a second time, in a process whose system trusts the authority of the tests.
///
/// Foundation's own engine trusts only the authorities of the system.
@Suite("Foundation's engine and a TLS connection that ends without close_notify", .timeLimit(.minutes(20)))
struct FoundationCutTests {
    /// Names the server in the environment of the second process.
    private static let server = "WAYSTATION_CUT_SERVER"

    @Test("takes half a body for a whole one, which is delivered and not stored")
    func cut() async throws {
        if let server = ProcessInfo.processInfo.environment[Self.server] { return try await load(from: server) }

        let certificates = try Certificates.shared.get()
        let origin = try RawOrigin(tls: certificates.server("name")) { _ in
            [.request, .send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nhalf"), .cut]
        }
        let command = ReplacedFiles(
            [ReplacedFiles.trustedAuthorities: certificates.path("ca.pem")],
            for: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
            ["--testing-library", "swift-testing", "--filter", "FoundationCutTests"]
        )
        let outcome = try SpawnedProcess.run(
            command.executable,
            command.arguments,
            environment: ProcessInfo.processInfo.environment
                .merging([Self.server: origin.url("/page", scheme: "https", host: "localhost")]) { $1 },
            limit: 600
        )
        #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.output + outcome.errors, as: UTF8.self))")
        #expect(origin.requests.map(\.line) == ["GET /page HTTP/1.1", "GET /page HTTP/1.1"])
    }

    /// Loads a page twice through a cache.
    private func load(from server: String) async throws {
        let directory = try TemporaryDirectory()
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://localhost:*/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: directory.url)
        }
        let session = URLSession(configuration: URLSessionConfiguration.ephemeral.intercepted(by: interceptor))
        for _ in 1...2 {
            let (body, response) = try await session.data(from: try #require(URL(string: server)))
            #expect(String(decoding: body, as: UTF8.self) == "half")
            #expect(
                (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
                    == "Waystation; fwd=uri-miss; fwd-status=200; detail=uncertain-length"
            )
        }
    }
}
#endif
