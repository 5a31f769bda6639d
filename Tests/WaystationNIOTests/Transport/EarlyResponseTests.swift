#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Responses before the request is complete", .timeLimit(.minutes(10)))
struct EarlyResponseTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func put(_ url: String, _ body: Data, expects: Bool = false) -> URLRequest {
        URLRequest(url) {
            $0.httpMethod = "PUT"
            $0.httpBody = body
            if expects { $0.setValue("100-continue", forHTTPHeaderField: "Expect") }
        }
    }

    @Test("A refusal within an upload is delivered; the rest of the body is not sent, and the connection closes")
    func refusal() async throws {
        let gate = Gate()
        let origin = try RawOrigin { _ in
            [
                .requestHead, .stopReading, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"),
                .gate(gate), .startReading,
            ]
        }
        let outcome = await NIOTransport.plain().load(put(origin.url(), Data(count: 64 << 20)))
        #expect(outcome.status == 413)
        #expect(outcome.text == "no")
        #expect(outcome.error == nil)
        #expect((outcome.sent.last?.total ?? 0) < 64 << 20)
        // The origin learns of the end of the connection once it has read what was sent before.
        gate.open()
        #expect(await eventually { origin.closedCount == 1 })
    }

    @Test("With Expect: 100-continue the body is sent after the 100 response")
    func continued() async throws {
        let origin = try RawOrigin { _ in
            [.requestHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .request, .send(Self.ok), .again]
        }
        // The body looks like a request, so that the script can take it.
        let body = Data("GET /body HTTP/1.1\r\n\r\n".utf8)
        let outcome = await NIOTransport.plain(continueTimeout: .hours(1)).load(put(origin.url(), body, expects: true))
        #expect(outcome.text == "ok")
        #expect(origin.requests.map(\.line) == ["PUT / HTTP/1.1", "GET /body HTTP/1.1"])
    }

    @Test("With Expect: 100-continue a final response replaces the body, and the connection closes")
    func expectationFailed() async throws {
        let origin = try RawOrigin { _ in
            [.requestHead, .send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"), .request]
        }
        let outcome = await NIOTransport.plain(continueTimeout: .hours(1)).load(
            put(origin.url(), Data("body".utf8), expects: true)
        )
        #expect(outcome.status == 401)
        #expect(outcome.error == nil)
        #expect(outcome.sent.isEmpty)
        #expect(await eventually { origin.closedCount == 1 })
        #expect(origin.requests.count == 1)
    }

    @Test("With Expect: 100-continue the body is sent after a while when the server says nothing")
    func silence() async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok)] }
        let outcome = await NIOTransport.plain(continueTimeout: .milliseconds(20)).load(
            put(origin.url(), Data("body".utf8), expects: true)
        )
        #expect(outcome.text == "ok")
        #expect(origin.requests.first?.body == "body")
    }
}
#endif
