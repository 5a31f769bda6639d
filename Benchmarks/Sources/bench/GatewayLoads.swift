import Foundation
@_spi(Processes) import Measuring
import Waystation
import WaystationGateway
import WaystationNIO
import WaystationPacks
import WaystationProcesses
import WaystationTestSupport

extension Benchmark {
    /// Loads of a browser's kind, with 64 connections, from a gateway and from nginx in turn.
    static let gateway: [Benchmark] = [
        Benchmark("gateway-pack-hit/nginx") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            try nginx.serve(Floor.body, at: "body.txt")
            let (packs, scratch) = try await packedBody()
            defer { withExtendedLifetime(scratch) {} }
            let gateway = Gateway(packs)
            try await gateway.start()
            return try await besideNginx(
                "gateway-pack-hit/nginx",
                Crowd(host: "packs-test-http.localhost", port: gateway.port ?? 0),
                Crowd(port: Int(nginx.port)),
                gateway
            )
        },
        Benchmark("gateway-forward/nginx-proxy") {
            let origin = try Nginx()
            defer { origin.stop() }
            try origin.serve(Floor.body, at: "body.txt")
            let proxy = try Nginx(
                directives: """
                    location / {
                        proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
                        proxy_set_header Host 127.0.0.1:\(origin.port);
                    }
                    """,
                upstream: "upstream origin { server 127.0.0.1:\(origin.port); keepalive 64; }"
            )
            defer { proxy.stop() }
            let interceptor = try Interceptor {
                $0.rules = [.allow("http://127.0.0.1:\(origin.port)/**", via: .network)]
                $0.transport = .nio
            }
            let gateway = Gateway(interceptor)
            try await gateway.start()
            return try await besideNginx(
                "gateway-forward/nginx-proxy",
                Crowd(host: "127-0-0-1-\(origin.port)-http.localhost", port: gateway.port ?? 0),
                Crowd(port: Int(proxy.port)),
                gateway
            )
        },
        Benchmark("gateway-memory") {
            let (packs, scratch) = try await packedBody()
            defer { withExtendedLifetime(scratch) {} }
            let gateway = Gateway(packs)
            try await gateway.start()
            let crowd = Crowd(host: "packs-test-http.localhost", port: gateway.port ?? 0)
            var requests = 0
            while requests < 10_000 { requests += try crowd.load(seconds: 1).count }
            let before = ProcessMemory.residentMiB
            requests = 0
            while requests < 100_000 { requests += try crowd.load(seconds: 2).count }
            let growth = ProcessMemory.residentMiB - before
            await gateway.stop()
            return [
                Figure(
                    "gateway-memory",
                    growth,
                    unit: "MiB",
                    limit: 8,
                    against: ["requests": Double(requests), "before-MiB": before]
                )
            ]
        },
    ]

    /// An interceptor with a pack of one file, `http://packs.test/body.txt`.
    private static func packedBody() async throws -> (Interceptor, ScratchDirectory) {
        let scratch = try ScratchDirectory()
        let library = try await PackLibrary.ofOneFile(in: scratch)
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://packs.test/**", via: .pack(orElse: .nowhere))]
            $0.packs = library
        }
        return (interceptor, scratch)
    }

    private static func besideNginx(
        _ name: String,
        _ measured: Crowd,
        _ base: Crowd,
        _ gateway: Gateway
    ) async throws -> [Figure] {
        let names = name.split(separator: "/").map { "\($0)-us" }
        let costs = try await interleaved(
            rounds: 7,
            [{ try base.load(seconds: 1).microseconds }, { try measured.load(seconds: 1).microseconds }]
        )
        await gateway.stop()
        return [
            Figure(name, costs[1] / costs[0], limit: 1.5, against: [names[1]: costs[0], names[0]: costs[1]])
        ]
    }
}

/// 64 connections of `wrk`, which load `/body.txt` as fast as they get it.
private struct Crowd {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let port: Int
    private let fields: [String]

    init(host: String? = nil, port: Int) {
        self.port = port
        fields = host.map { ["-H", "Host: \($0):\(port)"] } ?? []
    }

    /// The number of responses, and the time for each in microseconds.
    func load(seconds: Int) throws -> (count: Int, microseconds: Double) {
        let url = "http://127.0.0.1:\(port)/body.txt"
        let outcome = try SpawnedProcess.run(
            "/usr/bin/wrk",
            ["-t1", "-c64", "-d\(seconds)s"] + fields + [url],
            limit: Double(seconds) + 30
        )
        let output = String(decoding: outcome.output, as: UTF8.self)
        // For example: "  81234 requests in 2.01s, 1.26GB read".
        guard outcome.ending == .exited(0), !output.contains("Non-2xx"), !output.contains("Socket errors"),
            let match = output.firstMatch(of: #/(\d+) requests in ([\d.]+)(m?s)/#),
            let count = Int(match.1), count > 0, let time = Double(match.2)
        else { throw Failure(description: "wrk for \(url): \(outcome.ending) \(output) \(outcome.complaint)") }
        return (count, time * (match.3 == "ms" ? 1_000 : 1_000_000) / Double(count))
    }
}
