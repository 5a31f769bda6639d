#if NIO
import Foundation
import FoundationNetworking
import Testing

@testable import WaystationNIO

@Suite("Error codes are those of plain URLSession", .timeLimit(.minutes(10)))
struct ErrorCodeTests {
    private static let unsupported = URLError.Code.unsupportedURL

    @Test(
        "Broken responses",
        arguments: [
            ("", URLError.Code.badServerResponse), ("garbage garbage\r\n\r\n", unsupported),
            ("HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n", unsupported),
            ("HTTP/1.1 1000 X\r\nContent-Length: 0\r\n\r\n", unsupported), ("HTTP/1.1 20", .unknown),
            ("HTTP/1.1 200 OK\r\nX-A: 1\r\n", .unknown), ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", .unknown),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n", .unknown),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\nZZ\r\n", .unknown),
            ("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", .unknown),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", .unknown),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello", .unknown),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: X-GZIP\r\n\r\nhello", .unknown),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: odd, chunked\r\n\r\n0\r\n\r\n", .unknown),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .unknown),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n1\r\na\r\n0\r\n\r\n", .unknown),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", .unknown),
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", .unknown),
        ]
    )
    func responses(answer: String, code: URLError.Code) async throws {
        let origin = try RawOrigin { _ in [.request, .send(answer), .close] }
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect(outcome.code == code)
        #expect(outcome.wrongCalls == 0)
        #expect(outcome.error?.localizedDescription.isEmpty == false)
        #expect(outcome.error?.failingURL?.absoluteString == origin.url())
    }

    @Test("A refused connection is -1004")
    func refused() async throws {
        let outcome = await NIOTransport.plain().load("http://127.0.0.1:1/")
        #expect(outcome.code == .cannotConnectToHost)
        let message = outcome.error?.localizedDescription
        #expect(
            message == "Cannot connect to 127.0.0.1, port 1: Connection refused. Check that the server is running."
        )
        #expect(outcome.error?.failingURL?.absoluteString == "http://127.0.0.1:1/")
        #expect(outcome.error?.userInfo["NSErrorFailingURLStringKey"] as? String == "http://127.0.0.1:1/")
    }

    @Test("White space after the value of Transfer-Encoding is not a part of it, nor after other values")
    func whiteSpace() async throws {
        for end in [" ", "\t", " \t "] {
            let answer = "HTTP/1.1 200 OK\r\nX: a\(end)\r\nTransfer-Encoding: chunked\(end)\r\n\r\n1\r\na\r\n0\r\n\r\n"
            let origin = try RawOrigin { _ in [.request, .send(answer), .close] }
            let outcome = await NIOTransport.plain().load(origin.url())
            #expect(outcome.error == nil)
            #expect(outcome.text == "a")
            #expect(outcome.fields["X"] == "a")
        }
    }

    @Test("A name without an address is -1003")
    func lookUp() async throws {
        let outcome = await NIOTransport.plain().load("http://nowhere.invalid/")
        #expect(outcome.code == .cannotFindHost)
    }

    @Test("A request with a method that is not a token ends with a clear error, and is not sent")
    func badMethod() async throws {
        let origin = try RawOrigin { _ in [.request] }
        let outcome = await NIOTransport.plain().load(URLRequest(origin.url()) { $0.httpMethod = "BAD METHOD" })
        #expect(outcome.code == .badURL)
        #expect(origin.connectionCount == 0)
    }

    @Test("A line break in one of the configuration's additional fields ends every load with a clear error")
    func lineBreak() async throws {
        let origin = try RawOrigin { _ in [.request] }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-A": "a\r\nX-B: c"]
        let outcome = await NIOTransport.plain(configuration: configuration).load(origin.url())
        #expect(outcome.code == .badURL)
        #expect(origin.connectionCount == 0)
    }

    @Test("A GET with a body is -1103")
    func bodyOfGet() async throws {
        let outcome = await NIOTransport.plain().load(
            URLRequest("http://127.0.0.1:1/") { $0.httpBody = Data("x".utf8) }
        )
        #expect(outcome.code == .dataLengthExceedsMaximum)
    }

    @Test("A URL without a host is -1000, and another scheme is -1002")
    func badURL() async throws {
        #expect(await NIOTransport.plain().load("http:///path").code == .badURL)
        #expect(await NIOTransport.plain().load("ftp://127.0.0.1/").code == .unsupportedURL)
    }
}
#endif
