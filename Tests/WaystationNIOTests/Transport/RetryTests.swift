#if NIO
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport

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

    @Test(
        "A request on a kept connection that is dropped without an answer is sent again, whatever its method",
        arguments: ["GET", "PUT", "POST", "PATCH"],
        [RawOrigin.Step.close, .reset]
    )
    func retried(method: String, drop: RawOrigin.Step) async throws {
        let origin = try origin(drop)
        let transport = NIOTransport.plain()
        _ = await transport.load(origin.url())
        let outcome = await transport.load(
            URLRequest(origin.url("/second")) {
                $0.httpMethod = method
                if method != "GET" { $0.httpBody = Data("body".utf8) }
            }
        )
        #expect(outcome.text == "ok")
        #expect(origin.requests.map(\.line).suffix(2).allSatisfy { $0 == "\(method) /second HTTP/1.1" })
        #expect(origin.requests.last?.body == (method == "GET" ? "" : "body"))
        #expect(origin.connectionCount == 2)
    }

    @Test("A POST on a new connection is not sent again, because the server may have acted on it")
    func post() async throws {
        for drop in [RawOrigin.Step.close, .reset] {
            let origin = try RawOrigin { _ in [.request, drop] }
            let outcome = await NIOTransport.plain().load(URLRequest(origin.url()) { $0.httpMethod = "POST" })
            #expect([.badServerResponse, .networkConnectionLost].contains(outcome.code))
            #expect(origin.requests.count == 1)
        }
    }

    @Test(
        "A request is not sent again when a part of its answer has arrived",
        arguments: ["GET", "POST"],
        ["HTTP/1.1 200", "HTTP/1.1 100 Continue\r\n\r\n"]
    )
    func answered(method: String, part: String) async throws {
        let origin = try origin(.send(part))
        let transport = NIOTransport.plain()
        _ = await transport.load(origin.url())
        let outcome = await transport.load(URLRequest(origin.url()) { $0.httpMethod = method })
        #expect(outcome.code == .unknown)
        #expect(origin.requests.count == 2)
    }

    @Test("A POST is not sent again when the connection is reset within its answer")
    func resetAnswer() async throws {
        let arrived = Gate()
        let origin = try RawOrigin { number in
            [.request, .send(Self.ok), .request, .send("HTTP/1.1 200"), .gate(arrived), .reset]
        }
        let transport = NIOTransport.plain()
        _ = await transport.load(origin.url())
        let recorder = Recorder()
        _ = transport.start(URLRequest(origin.url()) { $0.httpMethod = "POST" }, receiver: recorder)
        #expect(await eventually { origin.requests.count == 2 })
        arrived.open()
        #expect(await recorder.end().error != nil)
        #expect(origin.requests.count == 2)
    }

    @Test("A reset after the whole of a response does not matter to it", arguments: ["GET", "POST"])
    func resetAfterAnswer(method: String) async throws {
        let origin = try RawOrigin { _ in [.request, .send(Self.ok), .reset] }
        let transport = NIOTransport.plain()
        for _ in 1...50 {
            let outcome = await transport.load(URLRequest(origin.url()) { $0.httpMethod = method })
            #expect(outcome.error == nil)
            #expect(outcome.text == "ok")
        }
    }

    @Test("A POST whose stream was spooled is sent again with its whole body")
    func spooled() async throws {
        let origin = try origin()
        let interceptor = try Interceptor {
            $0.transport = .nio
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
        }
        let session = URLSession(configuration: URLSessionConfiguration.ephemeral.intercepted(by: interceptor))
        _ = try await session.data(for: URLRequest(origin.url()))
        let body = String(repeating: "body ", count: 50_000)
        let request = URLRequest(origin.url("/second")) {
            $0.httpMethod = "POST"
            $0.httpBodyStream = InputStream(data: Data(body.utf8))
        }
        let (answer, _) = try await session.data(for: request)
        #expect(String(decoding: answer, as: UTF8.self) == "ok")
        #expect(origin.requests.suffix(2).allSatisfy { $0.body == body })
        #expect(origin.requests.count == 3)
    }

    @Test(
        "A request that waits is not sent on a connection that the server has closed by then",
        arguments: [1, 6],
        ["GET", "POST"]
    )
    func closedWithResponse(connections: Int, method: String) async throws {
        let closed = (0..<connections).map { _ in Gate() }
        let answers = Gate()
        let origin = try RawOrigin { number in
            number < connections
                ? [.request, .gate(answers), .send(Self.ok), .endSending, .open(closed[number]), .request]
                : [.request, .send(Self.ok), .again]
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = connections
        let transport = NIOTransport.plain(configuration: configuration)
        let recorders = (0...connections).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() {
            let isLast = number == connections
            let request = URLRequest(origin.url("/\(number)")) { $0.httpMethod = isLast ? method : "GET" }
            _ = transport.start(request, receiver: recorder)
        }
        #expect(await eventually { origin.requests.count == connections })
        // The engine reads nothing until all connections have answered and are closed.
        let blockers = closed.map(Gate.Blocker.init)
        let stall = Recorder {
            answers.open()
            for blocker in blockers { blocker.wait() }
        }
        let other = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")] }
        _ = transport.start(URLRequest(other.url()), receiver: stall)
        for recorder in recorders { #expect(await recorder.end().text == "ok") }
        // By then, the server has read all that was sent on them.
        #expect(await eventually { origin.closedCount == connections })
        #expect(origin.requests.map(\.connection).sorted() == Array(0...connections))
        #expect(origin.requests.last?.line == "\(method) /\(connections) HTTP/1.1")
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
