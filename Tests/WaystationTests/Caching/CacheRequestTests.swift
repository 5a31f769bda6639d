import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import WaystationHTTP
import WaystationStorage

@testable import Waystation

@Suite("A cache request")
struct CacheRequestTests {
    private let url = "https://a.example/x"

    private func entry(_ request: URLRequest) -> CacheRequest? { CacheRequest(request, canonical: url) }

    @Test("of a plain GET has a key of method, URL and the partition for requests without credentials")
    func plain() throws {
        let entry = try #require(try entry(URLRequest("GET", url, ["Accept": "text/html"])))
        #expect(entry.key == RequestKey(method: "GET", url: url))
        #expect(entry.message.headerFields[.accept] == "text/html")
        #expect(try self.entry(URLRequest("GET", url, body: "")) != nil)
    }

    @Test("does not exist for other methods", arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "SEARCH"])
    func methods(method: String) throws {
        #expect(try entry(URLRequest(method, url)) == nil)
    }

    @Test("of a QUERY has a key with a digest of the body and of the fields that describe it")
    func query() throws {
        func key(_ body: String, _ fields: [String: String] = [:]) throws -> RequestKey {
            try #require(try self.entry(URLRequest("QUERY", url, fields, body: body))).key
        }
        let plain = try key("a")
        #expect(plain.method == "QUERY")
        #expect(try #require(plain.url.wholeMatch(of: /(.*)#body=[0-9a-f]{64}/)).1 == url)
        #expect(try key("a") == plain)
        #expect(try key("a", ["Accept": "text/html"]) == plain)
        let others = try [
            key("b"), key(""), key("a", ["Content-Type": "text/plain"]), key("a", ["Content-Encoding": "text/plain"]),
            key("text/plain\n", ["Content-Type": ""]), key("a", ["Content-Type": "text/html"]),
        ]
        #expect(Set(others + [plain]).count == others.count + 1)
        let entry = try #require(try self.entry(URLRequest("QUERY", url, body: "a")))
        #expect(entry.message.method == .get)
        #expect(entry.isUnconditional)
    }

    @Test("does not exist for a QUERY with a stream, or with a body that is too large")
    func largeQuery() throws {
        var request = try URLRequest("QUERY", url)
        request.httpBody = Data(count: CacheKey.largestBody)
        #expect(entry(request) != nil)
        request.httpBody = Data(count: CacheKey.largestBody + 1)
        #expect(entry(request) == nil)
        request.httpBody = nil
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        #expect(entry(request) == nil)
    }

    @Test("has a text of the app's own in a form that cannot be mistaken for another part of the key")
    func ownText() throws {
        let rule = CacheKey.own { $0.value(forHTTPHeaderField: "X-A") }.includingBody(of: ["POST"])
        func key(_ method: String, _ text: String?) throws -> String {
            let request = try URLRequest(method, url + "?b", text.map { ["X-A": $0] } ?? [:], body: "")
            let canonical = try #require(CanonicalURL(url + "?b"))
            return try #require(CacheRequest(request, canonical: canonical, by: rule)).key.url
        }
        #expect(try key("GET", nil) == url + "?b")
        #expect(try key("GET", "a b&body=1#?/ä") == url + "?b#key=a%20b%26body%3D1%23%3F%2F%C3%A4")
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        // Not the digest of the body alone.
        #expect(try key("POST", "a").hasPrefix(url + "?b#key=a&body="))
        #expect(try !key("POST", "a").hasSuffix(digest))
    }

    @Test("does not exist for a GET with a body")
    func bodies() throws {
        #expect(try entry(URLRequest("GET", url, body: "x")) == nil)
        var request = try URLRequest("GET", url)
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        #expect(entry(request) == nil)
    }

    @Test("of a HEAD has the key of the GET")
    func head() throws {
        let entry = try #require(try entry(URLRequest("HEAD", url)))
        #expect(entry.key == RequestKey(method: "GET", url: url))
        #expect(entry.message.method == .head)
        #expect(!entry.isUnconditional)
    }

    @Test(
        "of a GET with a precondition is not unconditional, and that of one with a range is",
        arguments: [
            ("If-Match", "*"), ("if-none-match", "\"a\""), ("If-Modified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"),
            ("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"),
        ]
    )
    func conditional(name: String, value: String) throws {
        #expect(try entry(URLRequest("GET", url, [name: value]))?.isUnconditional == false)
        #expect(try entry(URLRequest("GET", url))?.isUnconditional == true)
        let range = ["Range": "bytes=0-1", "If-Range": "\"a\""]
        #expect(try entry(URLRequest("GET", url, range))?.isUnconditional == true)
    }

    @Test(
        "has the URL's scheme, authority and path",
        arguments: [
            ("https://a.example/x?y=1", "a.example", "/x?y=1"), ("http://a.example:8080/", "a.example:8080", "/"),
            ("http://[::1]:81/a/b", "[::1]:81", "/a/b"),
        ]
    )
    func target(url: String, authority: String, path: String) throws {
        let message = try #require(CacheRequest(URLRequest("GET", url), canonical: url)).message
        #expect(message.authority == authority)
        #expect(message.path == path)
        #expect(message.scheme == String(url.prefix { $0 != ":" }))
    }

    @Test("has a partition for each credential, whose name does not reveal the credential")
    func partitions() throws {
        let credentials = ["Basic dXNlcjpwYXNz", "Bearer secret", "Bearer secret2"]
        let partitions = try credentials.map { credential in
            try #require(try entry(URLRequest("GET", url, ["Authorization": credential]))).key.partition
        }
        #expect(Set(partitions + [""]).count == 4)
        for partition in partitions {
            #expect(partition.utf8.count == 32)
            #expect(partition.allSatisfy { $0.isHexDigit })
        }
        let again = try entry(URLRequest("GET", url, ["authorization": "Bearer secret"]))
        #expect(again?.key.partition == partitions[1])
    }

    @Test("has no user information in its key, but a partition for each")
    func userInformation() throws {
        func key(_ url: String, _ fields: [String: String] = [:]) throws -> RequestKey {
            try #require(CacheRequest(URLRequest("GET", url, fields), canonical: url)).key
        }
        let login = ["Authorization": "Bearer secret"]
        let keys = try [
            key("https://anna:pw@a.example/x?m=b@c"), key("https://anna:pw2@a.example/x?m=b@c"),
            key("https://anna:pw@a.example/x?m=b@c", login), key("https://a.example/x?m=b@c", login),
            key("https://a.example/x?m=b@c"),
        ]
        #expect(Set(keys.map(\.url)) == ["https://a.example/x?m=b@c"])
        #expect(Set(keys.map(\.partition)).count == keys.count)
        #expect(try key("https://anna:pw@a.example/x?m=b@c") == keys[0])
    }
}

@Suite("An archive strategy")
struct ArchiveStoringTests {
    private func stores(_ status: Int, _ fields: [String: String] = [:], asked: [String: String] = [:]) throws -> Bool {
        let request = try #require(
            CacheRequest(URLRequest("GET", "https://a.example/x", asked), canonical: "https://a.example/x")
        )
        let decision = CacheStrategy.cacheFirst(for: .days(1)).storing(
            try .head(status, fields),
            to: request.message,
            requestTime: Date(),
            responseTime: Date(),
            rules: CachingRules()
        )
        if case .store = decision { return true }
        return false
    }

    @Test("stores complete representations, redirects and 410")
    func statuses() throws {
        #expect(try (200...599).filter { try stores($0) } == [200, 203, 204, 301, 302, 303, 307, 308, 410])
    }

    @Test(
        "does not store with no-store or Vary: *, but with any freshness directive",
        arguments: [
            (["Cache-Control": "no-store"], false), (["cache-control": "max-age=60, NO-STORE "], false),
            (["Cache-Control": "private, max-age=0, must-revalidate"], true), (["Cache-Control": "no-cache"], true),
            (["Cache-Control": "x-no-store"], true), (["Expires": "0"], true), (["Pragma": "no-cache"], true),
            (["Vary": "*"], false), (["Vary": "Accept, *"], false), (["Vary": "Accept"], true),
        ]
    )
    func fields(fields: [String: String], isStorable: Bool) throws {
        #expect(try stores(200, fields) == isStorable)
        #expect(try stores(302, fields) == isStorable)
    }

    @Test("does not store when the request has no-store")
    func requestNoStore() throws {
        #expect(try !stores(200, asked: ["Cache-Control": "no-store"]))
    }
}
