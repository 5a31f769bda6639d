#if Gateway
import Foundation
import Testing
import WaystationProcesses
import WaystationTestSupport
import WaystationTesting

@Suite("The origins of waystation gateway", .timeLimit(.minutes(20)))
struct GatewayOriginTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// A response that ends or stops a program with Foundation's engine (Docs/FoundationTraps.md, L35).
    enum Response: String, CaseIterable, Sendable {
        case trailer, length, endlessRedirect

        func answer(_ gate: ScriptedOrigin.Gate) -> ScriptedOrigin.Response {
            switch self {
            case .trailer:
                .raw(
                    Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n".utf8)
                )
            case .length:
                .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\na".utf8))
            case .endlessRedirect:
                .stream(
                    Array(repeating: .bytes(Data(repeating: 0x61, count: 64 << 10)), count: 256) + [.wait(gate)],
                    status: 302,
                    fields: ["Location": "/fine"],
                    framing: .untilClose
                )
            }
        }
    }

    @Test("cannot end it, or stop its other loads, by a response", arguments: Response.allCases)
    func hostile(response: Response) async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { $0.path == "/fine" ? .ok("fine") : response.answer(gate) }
        try tool.write([
            "rules.toml": "[[rule]]\nurl = \"http://127.0.0.1:\(origin.port)/**\"\nvia = \"network\"\n"
        ])
        let running = try await GatewayProcess(tool.start("gateway", "--rules", "rules.toml", "--port", "0"))
        let name = "127-0-0-1-\(origin.port)-http.localhost"
        let client = try RawClient(port: UInt16(running.port))
        client.send("GET / HTTP/1.1\r\nHost: \(name):\(running.port)\r\n\r\n")
        // The end of the gateway's process would end the connection without a head.
        #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 "))
        #expect(try await running.get(name, "/fine") == (200, "fine"))
        client.close()
        #expect(await running.end(by: SIGTERM) == .exited(0))
    }

    @Test("are reached through the proxies of the environment, the hosts of tunnels as well")
    func proxies() async throws {
        let origin = try ScriptedOrigin { _ in .ok("within") }
        let proxy = try ScriptedOrigin { request in
            request.method == "CONNECT" ? .tunnel(to: UInt16(origin.port)) : .ok("by the proxy")
        }
        try tool.write(["rules.toml": "[[rule]]\nurl = \"http://shop.example/**\"\nvia = \"network\"\n"])
        let address = "http://127.0.0.1:\(proxy.port)"
        let running = try await GatewayProcess(
            tool.start(
                "gateway",
                "--rules",
                "rules.toml",
                "--port",
                "0",
                "--proxy",
                environment: ["http_proxy": address, "https_proxy": address, "no_proxy": "", "NO_PROXY": ""]
            )
        )
        #expect(try await running.get("shop-example-http.localhost", "/a") == (200, "by the proxy"))
        #expect(proxy.requests.last?.target == "http://shop.example/a")
        let client = try RawClient(port: UInt16(running.port))
        client.send("CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n")
        #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
        client.send("GET / HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n")
        #expect(client.receiveAll().bytes.hasSuffix("within"))
        #expect(proxy.requests.last?.target == "other.example:443")
        #expect(await running.end(by: SIGTERM) == .exited(0))
    }
}
#endif
