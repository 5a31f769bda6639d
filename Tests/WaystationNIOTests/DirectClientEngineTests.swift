#if NIO
import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import Waystation
import WaystationNIO
import WaystationTestSupport
import WaystationTesting

@Suite("A direct client over an engine", .timeLimit(.minutes(10)))
struct DirectClientEngineTests {
    enum Engine: CaseIterable, Sendable {
        case foundation, nio

        var carrier: Interceptor.Carrier { self == .nio ? .nio : .urlSession }
    }

    private func client(_ engine: Engine, _ spool: BodySpool = BodySpool()) throws -> DirectClient {
        try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.transport = engine.carrier
            $0.bodySpool = spool
        }
        .client(configuration: .ephemeral)
    }

    @Test("gets the events of a stream as the server sends them", arguments: Engine.allCases)
    func events(engine: Engine) async throws {
        let gates = try (0..<3).map { _ in try ScriptedOrigin.Gate() }
        let steps = gates.enumerated().flatMap { number, gate in
            [ScriptedOrigin.Response.Step.bytes(Data("data: \(number)\n\n".utf8)), .wait(gate)]
        }
        let origin = try ScriptedOrigin { _ in .stream(steps, fields: ["Content-Type": "text/event-stream"]) }
        let response = try await client(engine).response(for: origin.url("/"))
        var lines = response.body.lines.makeAsyncIterator()
        for (number, gate) in gates.enumerated() {
            // The server waits at the gate, so that the event arrives before the rest is sent.
            #expect(try await lines.next() == "data: \(number)")
            #expect(try await lines.next() == "")
            gate.open()
        }
        #expect(try await lines.next() == nil)
    }

    @Test("ends the connection of a load whose task is cancelled, or whose body is dropped", arguments: Engine.allCases)
    func cancel(engine: Engine) async throws {
        let gate = try ScriptedOrigin.Gate()
        defer { gate.open() }
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("a".utf8)), .wait(gate), .bytes(Data("b".utf8))]) }
        let client = try client(engine)
        let task = Task { try await client.data(for: origin.url("/task")) }
        await origin.waitForRequests(1)
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
        await origin.waitForAbandonedRequests(1)
        do {
            let response = try await client.response(for: origin.url("/dropped"))
            var parts = response.body.makeAsyncIterator()
            #expect(try await parts.next() == Data("a".utf8))
        }
        #expect(await origin.waitForAbandonedRequests(2).map(\.path) == ["/task", "/dropped"])
    }

    @Test("sends a body of a stated length while its parts arrive, by the engine on SwiftNIO")
    func upload() async throws {
        let origin = try ScriptedOrigin { .ok($0.body) }
        let client = try client(.nio, BodySpool(memory: .bytes(0)))
        let (parts, part) = AsyncStream<Data>.makeStream()
        let port = origin.port
        let loading = Task {
            let request = HTTPRequest(method: .put, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
            return try await client.data(for: request, body: .parts(parts, length: 4)).0
        }
        part.yield(Data("ab".utf8))
        // The request is sent although its body has not arrived.
        #expect(await eventually { origin.connectionCount == 1 })
        part.yield(Data("cd".utf8))
        part.finish()
        #expect(try await loading.value == Data("abcd".utf8))
    }

    @Test("loads many at a time, each its own response", arguments: Engine.allCases)
    func many(engine: Engine) async throws {
        let origin = try ScriptedOrigin { .ok($0.path) }
        let client = try client(engine)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let (body, head) = try await client.data(for: origin.url("/\(number)"))
                    return head.status == .ok && body == Data("/\(number)".utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
#endif
