import Foundation
import HTTPTypes
import NIOCore
import Testing
import WaystationTestSupport

@testable import UpdateServer

@Suite("Requests by the rules of HTTP")
struct RequestFormTests {
    private let platform: Platform

    init() throws { platform = try Platform() }

    @Test(
        "HEAD is answered as GET, without the content",
        arguments: [
            "/", "/page.js", "/catalogue.json", "/packs/shop/1.0/shop-1.0.zip", "/package", "/api/modules", "/nothing",
        ]
    )
    func head(path: String) async throws {
        try await platform.publish("1.0")
        try await platform.server().ask { client in
            let get = try await client.execute(uri: path, method: .get)
            let head = try await client.execute(uri: path, method: .head)
            #expect(head.status == get.status)
            #expect(head.headers[.contentType] == get.headers[.contentType])
            #expect(head.headers[.contentLength] == get.headers[.contentLength])
            #expect(head.headers[.eTag] == get.headers[.eTag])
            #expect(head.body.readableBytes == 0)
        }
    }

    @Test(
        "a method that a path does not take is refused with those that it takes",
        arguments: [
            ("/", .post, "GET, HEAD"), ("/catalogue.json", .put, "GET, HEAD"),
            ("/packs/shop/1.0/shop-1.0.zip", .delete, "GET, HEAD"), ("/modules", .get, "POST"),
            ("/package", .post, "GET, HEAD"), ("/api/modules", .patch, "GET, HEAD"),
            ("/api/modules/shop/publish", .get, "POST"), ("/api/modules/shop/disable", .options, "POST"),
        ] as [(String, HTTPRequest.Method, String)]
    )
    func wrongMethod(path: String, method: HTTPRequest.Method, allowed: String) async throws {
        try await platform.publish("1.0")
        try await platform.server().ask { client in
            let answer = try await client.execute(uri: path, method: method)
            #expect(answer.status == .methodNotAllowed)
            #expect(answer.headers[.allow] == allowed)
            #expect(answer.problem == "methodNotAllowed")
        }
    }

    @Test("a path that does not exist takes no method", arguments: ["/nothing", "/packs", "/api", "/api/modules/shop"])
    func noPath(path: String) async throws {
        try await platform.server().ask { client in
            for method in [HTTPRequest.Method.get, .post, .delete] {
                let response = try await client.execute(uri: path, method: method)
                #expect(response.status == .notFound)
            }
        }
    }

    @Test("a client that waits for 100 (Continue) gets it, and its upload is taken", .timeLimit(.minutes(10)))
    func expectation() async throws {
        let body = try Data(contentsOf: platform.pack("1.0"))
        let answers = try await exchange { client in
            client.send(Self.upload(length: body.count, "Expect: 100-continue\r\n"))
            let interim = client.receive(until: "\r\n\r\n")
            client.send(bytes: Array(body))
            return [interim, client.receive(until: "\r\n")]
        }
        #expect(answers == ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 201 Created\r\n"])
    }

    @Test("a client that waits for 100 (Continue) is refused before it sends its body", .timeLimit(.minutes(10)))
    func refusedExpectation() async throws {
        let answers = try await exchange { client in
            client.send(Self.upload(length: 1 << 40, "Expect: 100-continue\r\n"))
            return [client.receive(until: "\r\n")]
        }
        #expect(answers.first?.hasPrefix("HTTP/1.1 413 ") == true)
    }

    @Test(
        "a request with two Host fields is refused",
        .timeLimit(.minutes(10)),
        arguments: ["localhost", "other.example"]
    )
    func twoHosts(second: String) async throws {
        let answers = try await exchange { client in
            client.send("GET /package HTTP/1.1\r\nHost: localhost\r\nHost: \(second)\r\nConnection: close\r\n\r\n")
            return [client.receiveAll().bytes]
        }
        #expect(answers.first?.hasPrefix("HTTP/1.1 400 Bad Request\r\n") == true)
        #expect(answers.first?.contains("more than one Host field") == true)
    }

    private static func upload(length: Int, _ fields: String) -> String {
        "POST /api/modules/shop/publish HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(Platform.token)\r\n"
            + "Content-Length: \(length)\r\n\(fields)\r\n"
    }

    /// Runs the server, and a client that sends exact bytes.
    private func exchange(_ talk: @escaping @Sendable (RawClient) -> [String]) async throws -> [String] {
        try await platform.server().ask { client in
            try await BlockingWork.run { talk(try RawClient(port: client.port)) }
        }
    }
}
