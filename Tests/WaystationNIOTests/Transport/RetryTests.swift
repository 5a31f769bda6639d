#if NIO
import Foundation
import FoundationNetworking
import Testing

@testable import WaystationNIO

@Suite("Requests on dropped connections are sent again", .timeLimit(.minutes(10)))
struct RetryTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// The first connection answers once, and drops the second request.
    private func origin(_ drop: RawOrigin.Step = .close) throws -> RawOrigin {
        try RawOrigin { number in
            number == 0
                ? [.request, .send(Self.ok), .request, drop, .close] : [.request, .send(Self.ok), .again]
        }
    }

    @Test("A GET on a kept connection that is dropped without an answer is sent again", arguments: ["GET", "PUT"])
    func retried(method: String) async throws {
        let origin = try origin()
        let transport = NIOTransport.plain()
        _ = await transport.load(origin.url())
        let outcome = await transport.load(
            URLRequest(origin.url("/second")) {
                $0.httpMethod = method
                if method == "PUT" { $0.httpBody = Data("body".utf8) }
            }
        )
        #expect(outcome.text == "ok")
        #expect(origin.requests.map(\.line).suffix(2).allSatisfy { $0 == "\(method) /second HTTP/1.1" })
        #expect(origin.requests.last?.body == (method == "PUT" ? "body" : ""))
        #expect(origin.connectionCount == 2)
    }

    @Test("A POST is not sent again, because the server may have acted on it")
    func post() async throws {
        let origin = try origin()
        let transport = NIOTransport.plain()
        _ = await transport.load(origin.url())
        let outcome = await transport.load(URLRequest(origin.url()) { $0.httpMethod = "POST" })
        #expect(outcome.code == .badServerResponse)
        #expect(origin.requests.count == 2)
    }

    @Test("A request is not sent again when a part of its answer has arrived")
    func answered() async throws {
        let origin = try origin(.send("HTTP/1.1 200"))
        let transport = NIOTransport.plain()
        _ = await transport.load(origin.url())
        let outcome = await transport.load(origin.url())
        #expect(outcome.code == .unknown)
        #expect(origin.requests.count == 2)
    }

    @Test("A request on a new connection is not sent again")
    func fresh() async throws {
        let origin = try RawOrigin { _ in [.request, .close] }
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect(outcome.code == .badServerResponse)
        #expect(origin.requests.count == 1)
    }

    @Test("A body stream that was read is not sent again")
    func stream() async throws {
        let origin = try origin()
        let transport = NIOTransport.plain()
        _ = await transport.load(origin.url())
        let outcome = await transport.load(
            URLRequest(origin.url()) {
                $0.httpMethod = "PUT"
                $0.httpBodyStream = InputStream(data: Data("x".utf8))
            }
        )
        #expect(outcome.code == .badServerResponse)
        #expect(origin.requests.count == 2)
    }
}
#endif
