import Foundation
import FoundationNetworking
import Testing

@testable import WaystationPacks

@Suite struct RedirectTests {
    private func target(from current: String, to next: String, times: Int = 1) throws -> URLRequest? {
        let url = try Sample.url(current)
        let fetch = Fetch(FetchRequest(url, maximumBodySize: 1), URLSession.shared.dataTask(with: url)) {}
        var request = URLRequest(url: try Sample.url(next))
        for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-API-Key", "Range"] {
            request.setValue("x", forHTTPHeaderField: name)
        }
        var followed: URLRequest?
        for _ in 0..<times { followed = fetch.redirect(from: url, status: 302, to: request) }
        return followed
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
        ]
    )
    func refusal(current: String, next: String) throws {
        #expect(try target(from: current, to: next) == nil)
    }

    @Test("Ten redirects are followed, the eleventh is not")
    func limit() throws {
        #expect(try target(from: "http://a.example/1", to: "http://a.example/2", times: 10) != nil)
        #expect(try target(from: "http://a.example/1", to: "http://a.example/2", times: 11) == nil)
    }
}
