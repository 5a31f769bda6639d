import Foundation
import FoundationNetworking
@_spi(Processes) import Measuring
import WaystationNIO
import WaystationTestSupport

extension Benchmark {
    /// Loads by the engine beside those of plain URLSession, over TLS.
    static let secureNetwork: [Benchmark] = [
        Benchmark("nio-tls/plain-tls") {
            try await overTLS("tls", listen: "ssl", speaking: "HTTP/1.1", limit: 0.85)
        },
        Benchmark("nio-h2/plain-h2") {
            try await overTLS("h2", listen: "ssl http2", speaking: "HTTP/2.0", limit: 0.80)
        },
    ]

    private struct Failure: Error, CustomStringConvertible { let description: String }

    /// Measures in a child process that sees a certificate of ours in place of those that the system trusts, since
    /// Foundation has no other way to trust one.
    private static func overTLS(
        _ name: String,
        listen: String,
        speaking version: String,
        limit: Double
    ) async throws -> [Figure] {
        if let address = ProcessInfo.processInfo.environment[address] {
            return try await measure(name, url(address), speaking: version, limit: limit)
        }
        let certificates = try Certificates()
        let nginx = try Nginx(
            listen: listen,
            directives: """
                ssl_certificate \(certificates.path("name.pem")); ssl_certificate_key \(certificates.path("name.key"));
                add_header X-Protocol $server_protocol;
                """
        )
        defer { nginx.stop() }
        try nginx.serve(Floor.body, at: "body.txt")
        let child = try ChildProcess.run(
            ["nio-\(name)/plain-\(name)"],
            environment: ProcessInfo.processInfo.environment.merging(
                [address: "https://localhost:\(nginx.port)/body.txt"]
            ) { $1 },
            replacing: [ReplacedFiles.trustedAuthorities: certificates.path("ca.pem")],
            limit: 600
        )
        let figures = child.output.split(separator: UInt8(ascii: "\n"))
            .compactMap { try? JSONDecoder().decode(Line.self, from: $0) }
        guard figures.count == 2 else { throw Failure(description: "the child process failed: \(child.complaint)") }
        return figures.map { Figure($0.name, $0.value, limit: $0.limit, against: $0.against) }
    }

    /// The environment variable with the URL that the child process loads.
    private static let address = "BENCH_TLS_URL"

    /// A line of the child process with a figure.
    private struct Line: Decodable {
        let name: String
        let value: Double
        let limit: Double?
        let against: [String: Double]
    }

    private static func measure(
        _ name: String,
        _ body: URL,
        speaking version: String,
        limit: Double
    ) async throws -> [Figure] {
        let engine = URLSession(configuration: try InterceptedSession.network(by: .nio).configuration())
        let plain = URLSession(configuration: .default)
        for session in [engine, plain] {
            let response = try await session.data(from: body).1 as? HTTPURLResponse
            let spoken = response?.value(forHTTPHeaderField: "X-Protocol")
            guard spoken == version else {
                throw Failure(description: "nginx was asked by \(spoken ?? "no version"), not by \(version)")
            }
        }
        return try await Loads.ratio(
            "nio-\(name)/plain-\(name)",
            limit: limit,
            judged: .alone,
            rounds: 15,
            of: ("nio-\(name)", Loads(engine, [body], count: 600)),
            to: ("plain-\(name)", Loads(plain, [body], count: 600))
        )
    }
}
