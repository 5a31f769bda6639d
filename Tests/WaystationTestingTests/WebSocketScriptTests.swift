import Foundation
import Testing
import WaystationTestSupport
import WaystationTesting

@Suite(.timeLimit(.minutes(10)))
struct WebSocketScriptTests {
    /// A client after its handshake.
    private func client(
        _ origin: ScriptedOrigin,
        expectingInHandshake text: String = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
    ) throws -> RawClient {
        let client = try RawClient(port: origin.port)
        client.send("GET /live HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        #expect(client.receive(until: "\r\n\r\n").contains(text))
        return client
    }

    /// A client's frame, masked with zeros.
    private func frame(_ flags: UInt8, _ payload: String) -> [UInt8] {
        [flags, 0x80 | UInt8(payload.utf8.count), 0, 0, 0, 0] + payload.utf8
    }

    private func closing(_ code: UInt16) -> [UInt8] {
        [0x88, 0x82, 0, 0, 0, 0, UInt8(code >> 8), UInt8(code & 0xFF)]
    }

    private func server(_ flags: UInt8, _ payload: String) -> [UInt8] {
        [flags, UInt8(payload.utf8.count)] + payload.utf8
    }

    @Test func `a script sends, expects and replies, and closes with a code`() throws {
        let origin = try ScriptedOrigin { _ in
            .webSocket(
                [
                    .expect("subscribe"), .send("1"), .send(.binary(Data([7]))), .ping, .reply { .text("got \($0)") },
                    .close(code: 1001, reason: "restart"),
                ],
                subprotocol: "chat"
            )
        }
        let client = try client(origin, expectingInHandshake: "Sec-WebSocket-Protocol: chat\r\n")
        // In two fragments, with a ping between them.
        client.send(bytes: frame(0x01, "sub") + frame(0x89, "?") + frame(0x80, "scribe"))
        client.send(bytes: frame(0x8A, "") + frame(0x82, "x") + closing(1001))
        let expected =
            server(0x8A, "?") + server(0x81, "1") + [0x82, 1, 7] + [0x89, 0] + server(0x81, "got 1 bytes")
            + [0x88, 9, 0x03, 0xE9] + Array("restart".utf8)
        #expect(client.receiveAll().raw == expected)
        #expect(origin.webSocketFailures.isEmpty)
    }

    @Test func `a client that sends another message gets the difference, and the origin reports it`() async throws {
        let origin = try ScriptedOrigin { _ in .webSocket([.send("hello"), .expect("a"), .send("b")]) }
        let client = try client(origin)
        client.send(bytes: frame(0x81, "c"))
        let reason = #"expected "a", received "c""#
        #expect(
            client.receiveAll().raw == server(0x81, "hello") + [0x88, UInt8(reason.count + 2), 3, 0xF0] + reason.utf8
        )
        #expect(await origin.waitForWebSocketFailures(1) == [#"/live: step 2: expected "a", received "c""#])
    }

    @Test func `a client that closes early, with another code, or leaves is reported`() async throws {
        let origin = try ScriptedOrigin { _ in .webSocket([.expectClose(code: 1000)]) }
        for (number, bytes) in [closing(1002), [], frame(0x81, "x")].enumerated() {
            let client = try client(origin)
            client.send(bytes: bytes)
            if bytes.isEmpty { client.close() }
            await origin.waitForWebSocketFailures(number + 1)
        }
        #expect(
            origin.webSocketFailures == [
                "/live: step 1: expected the close code 1000, received 1002",
                "/live: step 1: expected a closing frame, but the client left",
                #"/live: step 1: expected a closing frame, received "x""#,
            ]
        )
        let good = try client(origin)
        good.send(bytes: closing(1000))
        #expect(good.receiveAll().raw == [0x88, 2, 0x03, 0xE8])
        #expect(origin.webSocketFailures.count == 3)
    }

    @Test func `a script closes after its last step, and drops or resets where it says so`() throws {
        let origin = try ScriptedOrigin { request in
            switch request.value(of: "Sec-WebSocket-Key") {
            case nil: .webSocket([])
            default: .webSocket([.send("a"), .drop])
            }
        }
        #expect(try client(origin).receiveAll().raw == server(0x81, "a"))
        let plain = try RawClient(port: origin.port)
        plain.send("GET / HTTP/1.1\r\n\r\n")
        #expect(plain.receiveAll().bytes.hasPrefix("HTTP/1.1 426"))
        let ending = try ScriptedOrigin { _ in .webSocket([]) }
        let client = try client(ending)
        client.send(bytes: closing(1000))
        #expect(client.receiveAll().raw == [0x88, 2, 0x03, 0xE8])
        let resetting = try ScriptedOrigin { _ in .webSocket([.expect("x"), .reset]) }
        let reset = try self.client(resetting)
        reset.send(bytes: frame(0x81, "x"))
        #expect(reset.receiveAll().ending == .reset)
    }
}
