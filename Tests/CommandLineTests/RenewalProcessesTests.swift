#if Gateway
import Foundation
import Synchronization
import Testing
import WaystationProcesses
import WaystationTestSupport
import WaystationTesting

@Suite("Processes with one cache directory", .timeLimit(.minutes(20)))
struct RenewalProcessesTests {
    private let tool: Tool
    private let gate: ScriptedOrigin.Gate
    private let origin: ScriptedOrigin

    init() throws {
        tool = try Tool()
        let gate = try ScriptedOrigin.Gate()
        self.gate = gate
        let pages = Mutex(0)
        origin = try ScriptedOrigin { request in
            let number =
                request.path == "/page"
                ? pages.withLock {
                    $0 += 1; return $0
                } : 0
            let answer = ScriptedOrigin.Response.ok("\(number)", fields: ["Cache-Control": "max-age=600"])
            // The renewals of the page take long.
            return number > 1 ? answer.held(at: gate) : answer
        }
        try tool.write([
            "rules.toml": """
            [cache]
            directory = "cache"

            [[rule]]
            url = "http://127.0.0.1:\(origin.port)/**"
            via = "cache"
            strategy = "stale-while-revalidate"
            maximum-age = "7d"
            """
        ])
    }

    private func gateway() async throws -> GatewayProcess {
        try await GatewayProcess(tool.start("gateway", "--rules", "rules.toml", "--port", "0"))
    }

    private func get(_ path: String, from gateway: GatewayProcess) async throws -> String {
        try await gateway.get("127-0-0-1-\(origin.port)-http.localhost", path).text
    }

    private func count(_ path: String) -> Int { origin.requests.filter { $0.path == path }.count }

    @Test("renew a stale response in the background one at a time, also after one of them was killed")
    func oneRenewal() async throws {
        let first = try await gateway()
        let second = try await gateway()
        #expect(try await get("/page", from: first) == "1")
        #expect(try await get("/page", from: first) == "1")
        // The second one is a renewal, which the origin holds back.
        await origin.waitForRequests(2)
        #expect(try await get("/page", from: second) == "1")
        #expect(try await get("/other", from: second) == "0")
        // The renewal of the other page comes after the decision about that of the page.
        #expect(try await get("/other", from: second) == "0")
        await origin.waitForRequests(4)
        #expect(count("/page") == 2)
        #expect(count("/other") == 2)

        #expect(await first.end(by: SIGKILL) == .killed(SIGKILL))
        #expect(try await get("/page", from: second) == "1")
        await origin.waitForRequests(5)
        #expect(count("/page") == 3)
        gate.open()
        while try await get("/page", from: second) == "1" {}
        #expect(await second.end(by: SIGTERM) == .exited(0))
    }
}
#endif
