#if NIO
import Foundation
import FoundationNetworking
import Testing

@testable import WaystationNIO

@Suite("Plain loads over HTTP/1.1", .timeLimit(.minutes(10)))
struct PlainLoadTests {
    private func load(
        _ answer: String,
        method: String = "GET",
        closes: Bool = false
    ) async throws -> (Recorder.Outcome, RawOrigin) {
        let origin = try RawOrigin { _ in [.request, .send(answer)] + (closes ? [.close] : []) }
        let outcome = await NIOTransport.plain().load(URLRequest(origin.url("/a?b")) { $0.httpMethod = method })
        #expect(outcome.wrongCalls == 0)
        return (outcome, origin)
    }

    @Test("A GET delivers the head, the body and the end")
    func get() async throws {
        let (outcome, origin) = try await load("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\n\r\nhi")
        #expect(outcome.status == 200)
        #expect(outcome.fields == ["Content-Length": "2", "X-A": "1"])
        #expect(outcome.text == "hi")
        #expect(outcome.error == nil)
        #expect(origin.requests.first?.line == "GET /a?b HTTP/1.1")
        #expect(origin.requests.first?.values(of: "Host") == ["127.0.0.1:\(origin.port)"])
    }

    @Test("A POST sends its body with Content-Length, and reports the progress")
    func post() async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")] }
        let request = URLRequest(origin.url()) {
            $0.httpMethod = "POST"
            $0.httpBody = Data("a=b".utf8)
        }
        let outcome = await NIOTransport.plain().load(request)
        #expect(outcome.status == 201)
        #expect(outcome.error == nil)
        #expect(origin.requests.first?.body == "a=b")
        #expect(origin.requests.first?.values(of: "Content-Length") == ["3"])
        #expect(outcome.sent.map(\.count) == [3])
        #expect(outcome.sent.last?.total == 3)
        #expect(outcome.sent.last?.expected == 3)
    }

    @Test("Fields with the same name are joined with a comma")
    func joined() async throws {
        let (outcome, _) = try await load("HTTP/1.1 200 OK\r\nA: 1\r\nA: 2\r\nContent-Length: 0\r\n\r\n")
        #expect(outcome.fields["A"] == "1, 2")
    }

    @Test("Chunks are joined; their extensions and the trailers are dropped")
    func chunked() async throws {
        let (outcome, _) = try await load(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n"
        )
        #expect(outcome.text == "abcde")
        #expect(outcome.fields["X-Trailer"] == nil)
        #expect(outcome.error == nil)
    }

    @Test(
        "A body without a length ends when the connection closes, also in a transfer coding that is not registered",
        arguments: ["", "Transfer-Encoding: odd\r\n", "Transfer-Encoding: x-odd\r\n"]
    )
    func closeDelimited(field: String) async throws {
        let (outcome, _) = try await load("HTTP/1.1 200 OK\r\n\(field)\r\nabc", closes: true)
        #expect(outcome.text == "abc")
        #expect(outcome.error == nil)
    }

    @Test(
        "Responses to HEAD, and those with status 204 or 304, have no body",
        arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)]
    )
    func bodiless(method: String, status: Int) async throws {
        let (outcome, _) = try await load("HTTP/1.1 \(status) X\r\nContent-Length: 5\r\n\r\n", method: method)
        #expect(outcome.status == status)
        #expect(outcome.body.isEmpty)
        #expect(outcome.error == nil)
    }

    @Test("Interim responses are skipped")
    func interim() async throws {
        let (outcome, _) = try await load(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
        )
        #expect(outcome.status == 200)
        #expect(outcome.fields["Link"] == nil)
        #expect(outcome.text == "x")
    }

    @Test("A response of several parts arrives whole and in order")
    func large() async throws {
        let line = String(repeating: "0123456789abcde\n", count: 64)
        let origin = try RawOrigin { _ in
            [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: \(4000 * 1024)\r\n\r\n"), .flood(line, times: 4000)]
        }
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect(outcome.body == Data(String(repeating: line, count: 4000).utf8))
        #expect(outcome.error == nil)
    }

    @Test("Bodies of other methods arrive as well: a stream without a length is sent in chunks")
    func stream() async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let request = URLRequest(origin.url()) {
            $0.httpMethod = "PUT"
            $0.httpBodyStream = InputStream(data: Data("streamed".utf8))
        }
        let outcome = await NIOTransport.plain().load(request)
        #expect(outcome.error == nil)
        #expect(origin.requests.first?.body == "8\r\nstreamed\r\n0\r\n\r\n")
        #expect(outcome.sent.last?.expected == -1)
    }

    @Test("A stream with a Content-Length is sent as it is")
    func streamWithLength() async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let request = URLRequest(origin.url()) {
            $0.httpMethod = "PUT"
            $0.httpBodyStream = InputStream(data: Data("streamed".utf8))
            $0.setValue("8", forHTTPHeaderField: "Content-Length")
        }
        let outcome = await NIOTransport.plain().load(request)
        #expect(outcome.error == nil)
        #expect(origin.requests.first?.body == "streamed")
        #expect(origin.requests.first?.values(of: "Transfer-Encoding") == [])
    }

    @Test("A stream that is shorter or longer than its Content-Length fails the load", arguments: ["3", "30"])
    func wrongLength(length: String) async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let request = URLRequest(origin.url()) {
            $0.httpMethod = "PUT"
            $0.httpBodyStream = InputStream(data: Data("streamed".utf8))
            $0.setValue(length, forHTTPHeaderField: "Content-Length")
        }
        let outcome = await NIOTransport.plain().load(request)
        #expect(outcome.code == .requestBodyStreamExhausted)
        #expect(outcome.status == nil)
    }

    @Test("A stream that cannot be read fails the load")
    func brokenStream() async throws {
        let origin = try RawOrigin { _ in [.request] }
        let request = URLRequest(origin.url()) {
            $0.httpMethod = "PUT"
            $0.httpBodyStream = InputStream(fileAtPath: "/nonexistent/file")
        }
        let outcome = await NIOTransport.plain().load(request)
        #expect(outcome.code == .requestBodyStreamExhausted)
    }

    @Test("An IPv6 address can be loaded from")
    func sixth() async throws {
        guard let origin = try? RawOrigin(host: "::1", { _ in [.request, .send("HTTP/1.1 204 No Content\r\n\r\n")] })
        else { return }
        let outcome = await NIOTransport.plain().load(origin.url("/", host: "[::1]"))
        #expect(outcome.status == 204)
        #expect(origin.requests.first?.values(of: "Host") == ["[::1]:\(origin.port)"])
        // If Foundation's engine can, too, ChoosingAnEngine.md says something wrong.
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: origin.url("/", host: "[::1]")))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .badURL)
    }

    @Test("A large upload arrives whole")
    func upload() async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let body = Data(repeating: UInt8(ascii: "x"), count: 3 << 20)
        let request = URLRequest(origin.url()) {
            $0.httpMethod = "PUT"
            $0.httpBody = body
        }
        let outcome = await NIOTransport.plain().load(request)
        #expect(outcome.error == nil)
        #expect(origin.requests.first?.body.utf8.count == 3 << 20)
        #expect(outcome.sent.map(\.count).reduce(0, +) == 3 << 20)
    }
}
#endif
