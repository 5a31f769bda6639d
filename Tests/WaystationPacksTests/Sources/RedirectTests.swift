import Foundation
import FoundationNetworking
import Testing
import Waystation

@testable import WaystationPacks

@Suite struct RedirectTests {
    private func target(from current: String, to next: String, status: Int = 302) throws -> URLRequest? {
        var request = URLRequest(url: try Sample.url(current))
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-API-Key", "Range"] {
            request.setValue("x", forHTTPHeaderField: name)
        }
        let head = ResponseHead(url: try Sample.url(current), statusCode: status, fields: ["location": next])
        return TransportFetcher.next(after: head, to: request)
    }

    @Test(
        "Credentials are sent only to their origin: scheme, host and port",
        arguments: [
            ("https://a.example/1", "https://a.example/2", true),
            ("https://a.example/1", "https://A.example:443/2", true),
            ("https://a.example/1", "https://b.example/2", false),
            ("https://a.example/1", "https://a.example:444/2", false),
            ("http://a.example/1", "https://a.example/2", false),
        ]
    )
    func credentials(current: String, next: String, areKept: Bool) throws {
        let request = try #require(try target(from: current, to: next))
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-API-Key"] {
            #expect((request.value(forHTTPHeaderField: name) != nil) == areKept)
        }
        #expect(request.value(forHTTPHeaderField: "Range") == "x")
    }

    @Test(
        "No redirect leads from https to http, or to another scheme",
        arguments: [
            ("https://a.example/1", "http://a.example/1"), ("http://a.example/1", "file:///etc/passwd"),
            ("http://a.example/1", "ftp://a.example/1"), ("http://a.example/1", "http:///1"),
            ("HTTPS://a.example/1", "HTTP://a.example/1"),
        ]
    )
    func refusal(current: String, next: String) throws {
        #expect(try target(from: current, to: next) == nil)
    }

    @Test("Only the statuses of redirects lead to another request", arguments: [200, 206, 300, 304, 404])
    func statuses(status: Int) throws {
        #expect(try target(from: "http://a.example/1", to: "http://a.example/2", status: status) == nil)
    }
}
