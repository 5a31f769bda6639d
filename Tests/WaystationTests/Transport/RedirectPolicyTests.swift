import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("Redirects (RFC 9110 §15.4)")
struct RedirectPolicyTests {
    private func decision(
        _ status: Int,
        to location: String?,
        from request: URLRequest,
        after count: Int = 0
    ) throws -> RedirectDecision {
        let fields = location.map { ["location": $0] } ?? [:]
        return RedirectPolicy.decision(for: try .head(status, fields), to: request, after: count)
    }

    private func next(_ status: Int = 302, to location: String, from request: URLRequest) throws -> URLRequest {
        guard case .follow(let next) = try decision(status, to: location, from: request) else {
            throw Failure(description: "\(status) to \(location) is not followed")
        }
        return next
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    @Test("only 301, 302, 303, 307 and 308 are followed")
    func statuses() throws {
        let request = try URLRequest("GET", "https://a.example/")
        let followed = try (100...599).filter { try decision($0, to: "/b", from: request) != .none }
        #expect(followed == [301, 302, 303, 307, 308])
    }

    @Test(
        "the method of the next request depends on the status",
        arguments: [
            (301, ["GET", "HEAD", "GET", "PUT", "DELETE"]), (302, ["GET", "HEAD", "GET", "PUT", "DELETE"]),
            (303, ["GET", "HEAD", "GET", "GET", "GET"]), (307, ["GET", "HEAD", "POST", "PUT", "DELETE"]),
            (308, ["GET", "HEAD", "POST", "PUT", "DELETE"]),
        ]
    )
    func methods(status: Int, expected: [String]) throws {
        for (method, expected) in zip(["GET", "HEAD", "POST", "PUT", "DELETE"], expected) {
            let request = try URLRequest(method, "https://a.example/", ["Content-Type": "text/plain"], body: "x")
            let next = try next(status, to: "/b", from: request)
            #expect(next.httpMethod == expected, "\(method) on \(status)")
            // A request that becomes a GET loses its body and the fields that describe the body.
            let isRewritten = method != expected
            if isRewritten { #expect(next.httpBody == nil) }
            if isRewritten { #expect(next.value(forHTTPHeaderField: "Content-Type") == nil) }
            if !isRewritten, status != 303 {
                #expect(next.httpBody == Data("x".utf8))
                #expect(next.value(forHTTPHeaderField: "Content-Type") == "text/plain")
            }
        }
    }

    @Test(
        "locations are resolved against the URL of the request",
        arguments: [
            ("/d", "https://a.example:8443/d"), ("d?e=f", "https://a.example:8443/b/d?e=f"),
            ("../d", "https://a.example:8443/d"), ("?q", "https://a.example:8443/b/c?q"),
            ("//b.example/d", "https://b.example/d"), ("http://b.example/d", "http://b.example/d"),
            ("HTTPS://b.example/d", "https://b.example/d"), ("Http://b.example/d", "http://b.example/d"),
        ]
    )
    func locations(location: String, expected: String) throws {
        let request = try URLRequest("GET", "https://a.example:8443/b/c?x=1")
        #expect(try next(to: location, from: request).url?.absoluteString == expected)
    }

    @Test(
        "a fragment is inherited unless the location has one",
        arguments: [("/d", "/d#here%20"), ("/d#there", "/d#there"), ("/d#", "/d#")]
    )
    func fragments(location: String, expected: String) throws {
        let request = try URLRequest("GET", "https://a.example/b#here%20")
        #expect(try next(to: location, from: request).url?.absoluteString == "https://a.example\(expected)")
        let plain = try URLRequest("GET", "https://a.example/b")
        #expect(try next(to: "/d", from: plain).url?.absoluteString == "https://a.example/d")
    }

    @Test(
        "credentials are removed when scheme, host or port change",
        arguments: [
            ("https://a.example/", "https://b.example/", false),
            ("https://a.example/", "https://www.a.example/", false),
            ("https://a.example/", "http://a.example/", false), ("http://a.example/", "https://a.example/", false),
            ("https://a.example/", "https://a.example:8443/", false),
            ("https://a.example:1/", "https://a.example:2/", false), ("https://a.example/", "//b.example/", false),
            ("https://a.example/", "/b", true), ("https://a.example/", "https://a.example:443/b", true),
            ("http://a.example:80/", "http://a.example/b", true), ("https://A.example/", "HTTPS://a.EXAMPLE/b", true),
        ]
    )
    func credentials(from: String, to location: String, areKept: Bool) throws {
        let credentials = ["Authorization": "a", "Cookie": "b", "Proxy-Authorization": "c", "Host": "a.example"]
        let request = try URLRequest("GET", from, credentials.merging(["Accept": "d"]) { $1 })
        let next = try next(307, to: location, from: request)
        #expect(next.value(forHTTPHeaderField: "Accept") == "d")
        for (name, value) in credentials {
            #expect(next.value(forHTTPHeaderField: name) == (areKept ? value : nil), "\(name)")
        }
    }

    @Test("20 are followed, and no more")
    func limit() throws {
        let request = try URLRequest("GET", "https://a.example/")
        #expect(try decision(302, to: "/b", from: request, after: 19) != .tooMany)
        #expect(try decision(302, to: "/b", from: request, after: 20) == .tooMany)
        #expect(try decision(200, to: "/b", from: request, after: 20) == .none)
    }

    @Test(
        "a location with a scheme other than HTTP is not followed",
        arguments: ["ftp://a.example/", "file:///etc/passwd", "javascript:alert(1)", "mailto:a@b.example", "data:,x"]
    )
    func schemes(location: String) throws {
        #expect(try decision(302, to: location, from: URLRequest("GET", "https://a.example/")) == .unsupported)
    }

    @Test("a redirect without a location is not followed")
    func noLocation() throws {
        #expect(try decision(302, to: nil, from: URLRequest("GET", "https://a.example/")) == .none)
    }
}
