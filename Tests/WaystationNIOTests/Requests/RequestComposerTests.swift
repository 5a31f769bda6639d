#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import Testing

@testable import WaystationNIO

@Suite("A composed request")
struct RequestComposerTests {
    private var composer: RequestComposer {
        var composer = RequestComposer()
        composer.userAgent = "agent"
        composer.acceptLanguage = "en"
        composer.codings = ["gzip", "br"]
        return composer
    }

    private func compose(
        _ url: String = "http://h/",
        _ change: (inout URLRequest) -> Void = { _ in }
    ) throws -> ComposedRequest {
        try composer.compose(URLRequest(url, change))
    }

    private func fields(_ request: ComposedRequest) -> [String: String] {
        Dictionary(request.head.fields.map { ($0.name.lowercased(), $0.value) }) { "\($0) & \($1)" }
    }

    @Test("has the fields that plain URLSession sends")
    func defaults() throws {
        let request = try compose()
        #expect(
            fields(request) == [
                "accept": "*/*", "accept-encoding": "gzip, br", "accept-language": "en", "connection": "keep-alive",
                "user-agent": "agent",
            ]
        )
        #expect(request.head.method == "GET")
        #expect(request.head.target == "/")
        #expect(request.head.authority == "h")
        #expect(request.head.scheme == "http")
        #expect(request.head.framing == .none)
        #expect(request.origin == Origin(isSecure: false, host: "h", port: 80))
    }

    @Test("The User-Agent is that of Foundation: process and libcurl")
    func userAgent() {
        let name = ProcessInfo.processInfo.processName
        #expect(DefaultFields.userAgent.hasPrefix("\(name) (unknown version) curl/"))
    }

    @Test("The request's own fields win over the configuration's, and both over the defaults")
    func precedence() throws {
        var composer = composer
        composer.additionalFields = [
            ("X-Both", "configuration"), ("x-additional", "yes"), ("accept", "text/html"), ("Host", "configuration"),
        ]
        let request = try composer.compose(
            URLRequest("http://h/") {
                $0.setValue("request", forHTTPHeaderField: "x-both")
                $0.setValue("request.test", forHTTPHeaderField: "host")
                $0.setValue("own", forHTTPHeaderField: "User-Agent")
                $0.setValue("", forHTTPHeaderField: "Accept-Language")
                $0.setValue("  spaces\t", forHTTPHeaderField: "X-Spaces")
            }
        )
        let fields = fields(request)
        #expect(fields["x-both"] == "request")
        #expect(request.head.authority == "request.test")
        #expect(fields["x-additional"] == "yes")
        #expect(fields["accept"] == "text/html")
        #expect(fields["user-agent"] == "own")
        #expect(fields["accept-language"] == "")
        #expect(fields["x-spaces"] == "spaces")
    }

    @Test("Without decoders no Accept-Encoding is sent")
    func noCodings() throws {
        var composer = composer
        composer.codings = []
        #expect(fields(try composer.compose(URLRequest("http://h/")))["accept-encoding"] == nil)
    }

    @Test("User name and password of the URL become Basic credentials, unless the request has its own")
    func userinfo() throws {
        #expect(fields(try compose("http://user:p%40ss@h/"))["authorization"] == "Basic dXNlcjpwQHNz")
        #expect(fields(try compose("http://user@h/"))["authorization"] == "Basic dXNlcjo=")
        let own = try compose("http://user@h/") { $0.setValue("Bearer x", forHTTPHeaderField: "Authorization") }
        #expect(fields(own)["authorization"] == "Bearer x")
        #expect(own.head.authority == "h")
    }

    @Test("The Host field replaces the authority; framing fields of the app are not sent")
    func framing() throws {
        let request = try compose("http://h:81/") {
            $0.setValue("other:82", forHTTPHeaderField: "Host")
            $0.setValue("5", forHTTPHeaderField: "Content-Length")
            $0.setValue("chunked", forHTTPHeaderField: "Transfer-Encoding")
        }
        #expect(request.head.authority == "other:82")
        #expect(request.origin == Origin(isSecure: false, host: "h", port: 81))
        #expect(fields(request)["host"] == nil)
        #expect(fields(request)["content-length"] == nil)
        #expect(fields(request)["transfer-encoding"] == nil)
        #expect(request.head.framing == .none)
    }

    @Test(
        "A request without a body has Content-Length 0, unless its method is GET or HEAD",
        arguments: [
            ("GET", EngineRequestHead.Framing.none), ("HEAD", .none), ("POST", .length(0)), ("PUT", .length(0)),
            ("DELETE", .length(0)), ("PATCH", .length(0)), ("OPTIONS", .length(0)), ("FOO", .length(0)),
        ]
    )
    func bodiless(method: String, framing: EngineRequestHead.Framing) throws {
        #expect(try compose("http://h/") { $0.httpMethod = method }.head.framing == framing)
    }

    @Test("The body decides the framing, and POST alone gets a Content-Type")
    func bodies() throws {
        let form = "application/x-www-form-urlencoded"
        let post = try compose {
            $0.httpMethod = "POST"; $0.httpBody = Data("abc".utf8)
        }
        #expect(post.head.framing == .length(3))
        #expect(fields(post)["content-type"] == form)
        let empty = try compose {
            $0.httpMethod = "POST"; $0.httpBody = Data()
        }
        #expect(empty.head.framing == .length(0))
        #expect(fields(empty)["content-type"] == nil)
        let put = try compose {
            $0.httpMethod = "PUT"; $0.httpBody = Data("abc".utf8)
        }
        #expect(fields(put)["content-type"] == nil)
        let stream = try compose {
            $0.httpMethod = "POST"; $0.httpBodyStream = InputStream(data: Data("abc".utf8))
        }
        #expect(stream.head.framing == .unknownLength)
        #expect(fields(stream)["content-type"] == form)
        let own = try compose {
            $0.httpMethod = "POST"
            $0.httpBodyStream = InputStream(data: Data("abc".utf8))
            $0.setValue("3", forHTTPHeaderField: "Content-Length")
            $0.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        }
        #expect(own.head.framing == .length(3))
        #expect(fields(own)["content-type"] == "text/plain")
    }

    @Test("A stream's Content-Length must be a number", arguments: ["-1", "x", "", "99999999999999999999", "1 2"])
    func badLength(length: String) {
        #expect(throws: TransportFailure.self) {
            try compose {
                $0.httpMethod = "PUT"
                $0.httpBodyStream = InputStream(data: Data())
                $0.setValue(length, forHTTPHeaderField: "Content-Length")
            }
        }
    }

    @Test("The target has neither fragment nor dot segments, and keeps its encoding")
    func targets() throws {
        #expect(try compose("http://h/a/./b/../c?x=%2e%2E#f").head.target == "/a/c?x=%2e%2E")
        #expect(try compose("http://h/a%2fb/%7e/%2e%2e/x//y?").head.target == "/a%2fb/%7e/%2e%2e/x//y?")
        #expect(try compose("http://h?q").head.target == "/?q")
        #expect(try compose("http://h").head.target == "/")
    }

    @Test("Through a proxy the target is the whole URL, without credentials")
    func absoluteForm() throws {
        var composer = composer
        let proxy = Route.Proxy(host: "proxy", port: 3128, authorization: "Basic eA==")
        composer.route = { host, port, isSecure in
            #expect(host == "h" && port == 81 && !isSecure)
            return .absoluteForm(proxy)
        }
        let request = try composer.compose(URLRequest("http://user@H:81/a/../b?c"))
        #expect(request.head.target == "http://H:81/b?c")
        #expect(request.head.authority == "H:81")
        #expect(fields(request)["proxy-authorization"] == "Basic eA==")
        #expect(request.origin.route == .absoluteForm(proxy))
    }

    @Test("Through a proxy of an unknown kind nothing is sent")
    func unsupportedProxy() {
        var composer = composer
        composer.route = { host, _, _ in host == "h" ? .unsupported("socks5://proxy") : .direct }
        #expect(!composer.canCarry(URL(string: "http://h/")))
        #expect(composer.canCarry(URL(string: "http://other/")))
        #expect(throws: TransportFailure.self) { try composer.compose(URLRequest("http://h/")) }
    }

    @Test(
        "Only http and https URLs with a host can be carried",
        arguments: [
            ("http://h/", true), ("HTTPS://h", true), ("ftp://h/", false), ("http:///x", false), ("data:,x", false),
            ("http://[fe80::1%25eth0]/", false),
        ]
    )
    func carried(url: String, isCarried: Bool) {
        #expect(composer.canCarry(URL(string: url)) == isCarried)
    }

    @Test("Hosts are compared without their case, and addresses without brackets")
    func origins() throws {
        #expect(try compose("https://HOST/").origin == Origin(isSecure: true, host: "host", port: 443))
        #expect(try compose("https://[::1]:8443/").origin == Origin(isSecure: true, host: "::1", port: 8443))
    }

    @Test(
        "Fields that would end early or begin another one are refused",
        arguments: [
            ("X", "a\r\nB: c"), ("X", "a\nB: c"), ("X", "a\u{0}"), ("X\r\nY", "a"), ("X Y", "a"), ("", "a"),
            ("X:", "a"),
            ("Ä", "a"), ("Host", "a b"), ("Host", ""), ("Host", "h/x"),
        ]
    )
    func refused(name: String, value: String) {
        var fields = ComposedFields("h")
        #expect(throws: TransportFailure.self) { try fields.add([name: value]) }
    }

    @Test("Methods must be tokens", arguments: ["A B", "G\u{E4}T", "A\r\nB", "GET/"])
    func methods(method: String) {
        #expect(throws: TransportFailure.self) { try compose { $0.httpMethod = method } }
    }

    @Test(
        "Time-outs that are no time at all do not overflow",
        arguments: [(0.0, 1_000_000), (-5, 1_000_000), (1.5, 1_500_000_000), (.infinity, 1_000_000_000_000_000_000)]
    )
    func timeouts(seconds: TimeInterval, nanoseconds: Int64) throws {
        #expect(try compose { $0.timeoutInterval = seconds }.timeout == .nanoseconds(nanoseconds))
    }

    @Test("The session's time-out counts, unless the request has one of its own, even the default of 60 seconds")
    func sessionTimeout() throws {
        let url = try #require(URL(string: "http://a.example/"))
        var request = URLRequest(url: url)
        var composer = RequestComposer()
        composer.sessionTimeout = 10
        #expect(try composer.compose(request).timeout == .seconds(10))
        request.timeoutInterval = 60
        #expect(try composer.compose(request).timeout == .seconds(60))
    }

    @Test("A time-out of zero counts only if the property was set, as with Foundation's loader", arguments: [0.0, -5])
    func noTimeout(seconds: TimeInterval) throws {
        let url = try #require(URL(string: "http://a.example/"))
        let request = URLRequest(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: seconds)
        var composer = RequestComposer()
        composer.sessionTimeout = 30
        #expect(try composer.compose(request).timeout == .seconds(30))
        var other = request
        other.timeoutInterval = seconds
        #expect(try composer.compose(other).timeout == .milliseconds(1))
    }
}
#endif
