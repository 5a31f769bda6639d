#if Gateway
import Foundation
import Logging
import ServiceLifecycle
import Testing
import Waystation
import WaystationGateway
import WaystationNIO
import WaystationOrigin
import WaystationTestSupport
import WaystationTesting

@Suite("A gateway", .timeLimit(.minutes(10)))
struct GatewayTests {
    @Test("answers with the files of a rule, under the name of their origin")
    func files() async throws {
        let fixture = try await GatewayFixture(files: ["index.html": "<p>shop</p>", "a/b.css": "p {}"])
        let page = try await fixture.get("/")
        #expect(page.status == 200)
        #expect(page.text == "<p>shop</p>")
        #expect(page["Content-Type"]?.hasPrefix("text/html") == true)
        #expect(page["Content-Length"] == "11")
        #expect(page["Cache-Control"] == "no-cache")
        #expect(try await fixture.get("/a/b.css")["Content-Type"]?.hasPrefix("text/css") == true)
        #expect(
            fixture.gateway.url(for: try #require(URL(string: "https://shop.example/a/b.css")))?.absoluteString
                == "http://\(fixture.shop)/a/b.css"
        )
    }

    @Test("redirects a browser to a folder's URL with its slash, by which the browser resolves relative links")
    func folders() async throws {
        let manual = try TemporaryFolder()
        try manual.write(Data("<img src=a.png>".utf8), to: "index.html")
        let fixture = try await GatewayFixture(
            files: ["guide/index.html": "<img src=a.png>"],
            interceptor: {
                let files = Route.files(in: manual.url, at: "https://manual.example/base/", orElse: .nowhere)
                $0.rules.append(.allow("https://manual.example/**", via: files))
            }
        )
        for _ in 1...2 {
            let subfolder = try await fixture.get("/guide?a=1")
            #expect(subfolder.status == 301)
            #expect(subfolder["Location"] == "./guide/?a=1")
            #expect(subfolder["Cache-Control"] == "no-cache")
            let host = "manual-example.localhost:\(fixture.port)"
            let base = try await fixture.get("/base", host: host)
            #expect(base.status == 301)
            #expect(base["Location"] == "./base/")
            #expect(try await fixture.get("/guide/").text == "<img src=a.png>")
            #expect(try await fixture.get("/base/", host: host).text == "<img src=a.png>")
        }
    }

    @Test("decodes a compressed SVG, whose coding it leaves out")
    func compressedFile() async throws {
        let fixture = try await GatewayFixture()
        let gzip = "H4sIAAAAAAACA7MpLktXqMjNySu2Vc8oKSmw0tcvLy/XKzfWyy9K1zcyMDDQB6pQ17cDAAdauVgpAAAA"
        try fixture.write(try #require(Data(base64Encoded: gzip)), to: "logo.svgz")
        let response = try await fixture.get("/logo.svgz")
        #expect(response.text == "<svg xmlns='http://www.w3.org/2000/svg'/>")
        #expect(response["Content-Type"] == "image/svg+xml")
        #expect(response["Content-Encoding"] == nil)
    }

    @Test("answers HEAD, ranges and conditional requests like a web server")
    func methods() async throws {
        let fixture = try await GatewayFixture(files: ["film.mp4": "0123456789"])
        let head = try await fixture.get("/film.mp4", method: "HEAD")
        #expect(head.status == 200)
        #expect(head["Content-Length"] == "10")
        #expect(head.body.isEmpty)
        let part = try await fixture.get("/film.mp4", ["Range: bytes=2-4"])
        #expect(part.status == 206)
        #expect(part["Content-Range"] == "bytes 2-4/10")
        #expect(part.text == "234")
        let whole = try await fixture.get("/film.mp4")
        let tag = try #require(whole["ETag"])
        let same = try await fixture.get("/film.mp4", ["If-None-Match: \(tag)"])
        #expect(same.status == 304)
        #expect(same.body.isEmpty)
    }

    @Test("sends a request to its origin as if the page were there")
    func forwarding() async throws {
        let origin = try ScriptedOrigin { _ in .ok("ok") }
        let fixture = try await GatewayFixture(origin: origin)
        let name = fixture.name(of: origin)
        let response = try await fixture.get(
            "/api?a=1",
            host: name,
            ["Origin: http://\(name)", "Referer: http://\(name)/page", "X-Own: 1", "Connection: X-Hop", "X-Hop: 1"]
        )
        #expect(response.text == "ok")
        let request = try #require(origin.requests.first)
        #expect(request.target == "/api?a=1")
        #expect(request.value(of: "Host") == "127.0.0.1:\(origin.port)")
        #expect(request.value(of: "Origin") == "http://127.0.0.1:\(origin.port)")
        #expect(request.value(of: "Referer") == "http://127.0.0.1:\(origin.port)/page")
        #expect(request.value(of: "X-Own") == "1")
        #expect(request.value(of: "X-Hop") == nil)
    }

    @Test("asks for a range without a content coding: a part of coded bytes cannot be decoded (RFC 9110 §14.2)")
    func rangesWithoutCoding() async throws {
        let origin = try ScriptedOrigin { _ in .ok("whole") }
        let fixture = try await GatewayFixture(origin: origin)
        let name = fixture.name(of: origin)
        // As Chromium asks for media.
        let fields = ["Range: bytes=1-", "Accept-Encoding: identity;q=1, *;q=0"]
        #expect(try await fixture.get("/a", host: name, fields).text == "whole")
        #expect(try await fixture.get("/a", host: name, ["Accept-Encoding: gzip"]).text == "whole")
        #expect(origin.requests.map { $0.value(of: "Accept-Encoding") == "identity" } == [true, false])
    }

    @Test("returns redirects to the browser, with its own names for what a rule takes")
    func redirects() async throws {
        let origin = try ScriptedOrigin { request in
            .redirect(to: request.path == "/in" ? "https://shop.example/a" : "https://elsewhere.example/")
        }
        let fixture = try await GatewayFixture(origin: origin)
        let within = try await fixture.get("/in", host: fixture.name(of: origin))
        #expect(within.status == 302)
        #expect(within["Location"] == "http://\(fixture.shop)/a")
        let out = try await fixture.get("/out", host: fixture.name(of: origin))
        #expect(out["Location"] == "https://elsewhere.example/")
        #expect(origin.requestCount == 2)
    }

    @Test(
        "gives a Location without a scheme the scheme of the origin, not that of the gateway",
        arguments: [
            ("//shop.example/a", "http://SHOP/a"), ("//elsewhere.example/", "https://elsewhere.example/"),
            ("/a", "/a"),
        ]
    )
    func locationsWithoutScheme(location: String, expected: String) async throws {
        let network = ScriptedTransport { request in
            .status(
                302,
                fields: ["Location": location, "Content-Location": location, "Refresh": "5; url=\(location)"]
            )
        }
        let fixture = try await GatewayFixture(
            interceptor: {
                $0.rules.append(.allow("https://secure.example/**", via: .carried(by: network, as: "the network")))
            }
        )
        let response = try await fixture.get("/in", host: "secure-example.localhost:\(fixture.port)")
        let local = expected.replacing("SHOP", with: fixture.shop)
        #expect(response.status == 302)
        #expect(response["Location"] == local)
        #expect(response["Content-Location"] == local)
        #expect(response["Refresh"] == "5; url=\(local)")
    }

    @Test(
        "leads the URL of Refresh to itself in every form that browsers take, and changes no other one (HTML §4.2.5.3)",
        arguments: [
            ("0; https://shop.example/a", "0; http://SHOP/a"),
            ("0; URL = https://shop.example/a", "0; URL = http://SHOP/a"),
            ("1,'https://shop.example/a' x", "1,'http://SHOP/a' x"),
            ("3; /go?url=https://shop.example/x", "3; /go?url=https://shop.example/x"),
            ("0; url=https://elsewhere.example/?url=https://shop.example/", nil),
            ("url=https://shop.example/", nil), ("5", nil),
        ]
    )
    func refreshes(value: String, expected: String?) async throws {
        let network = ScriptedTransport { _ in .ok("", fields: ["Refresh": value]) }
        let fixture = try await GatewayFixture(
            interceptor: {
                $0.rules.append(.allow("https://secure.example/**", via: .carried(by: network, as: "the network")))
            }
        )
        let response = try await fixture.get("/", host: "secure-example.localhost:\(fixture.port)")
        #expect(response["Refresh"] == (expected ?? value).replacing("SHOP", with: fixture.shop))
    }

    @Test(
        "gives the targets of Link its own names, if it rewrites links and a rule takes them (RFC 8288 §3)",
        arguments: [
            ("<https://shop.example/a.woff2>; rel=preload; as=font", "<http://SHOP/a.woff2>; rel=preload; as=font"),
            ("</a>; rel=next,<https://shop.example/b,c>;rel=x", "</a>; rel=next,<http://SHOP/b,c>;rel=x"),
            ("<https://shop.example>; rel=preconnect", "<http://SHOP>; rel=preconnect"),
            ("<//elsewhere.example/>; rel=preload", "<https://elsewhere.example/>; rel=preload"),
            ("<https://elsewhere.example/>; rel=preload", "<https://elsewhere.example/>; rel=preload"),
            (
                #"</a>; title="\", <https://shop.example/b>", , <https://shop.example/c>"#,
                #"</a>; title="\", <https://shop.example/b>", , <http://SHOP/c>"#
            ),
            ("https://shop.example/a, <https://shop.example/b", "https://shop.example/a, <https://shop.example/b"),
        ]
    )
    func linkFields(value: String, expected: String) async throws {
        let network = ScriptedTransport { _ in .ok("", fields: ["Link": value]) }
        for rewrites in [true, false] {
            let fixture = try await GatewayFixture {
                $0.rewritesLinks = rewrites
            } interceptor: {
                $0.rules.append(.allow("https://secure.example/**", via: .carried(by: network, as: "the network")))
            }
            let response = try await fixture.get("/", host: "secure-example.localhost:\(fixture.port)")
            #expect(response["Link"] == (rewrites ? expected.replacing("SHOP", with: fixture.shop) : value))
        }
    }

    @Test("refuses the names of its own address, and counts no name of another host among them")
    func ownAddress() async throws {
        let fixture = try await GatewayFixture()
        for (host, status) in [
            ("127.0.0.1", 508), ("127.1.2.3", 508), ("0.0.0.0", 508), ("0", 508), ("localhost", 508),
            ("127.proxy.example", 403), ("128.0.0.1", 403),
        ] {
            let url = try #require(URL(string: "http://\(host):\(fixture.port)/"))
            let name = try #require(fixture.gateway.url(for: url)?.host())
            #expect(try await fixture.get("/", host: "\(name):\(fixture.port)").status == status, "\(host)")
        }
    }

    @Test("sends a percent sign that begins no percent-encoding as %25, as it is meant (URL Standard)")
    func strayPercents() async throws {
        let origin = try ScriptedOrigin { _ in .ok("ok") }
        let fixture = try await GatewayFixture(origin: origin) { $0.isProxy = true }
        for target in ["/search?q=100%", "/a%zz/%4", "/%%41"] {
            #expect(try await fixture.get(target, host: fixture.name(of: origin)).status == 200)
            let url = "http://127.0.0.1:\(origin.port)\(target)"
            #expect(try await fixture.get(url, host: "127.0.0.1:\(origin.port)").status == 200)
        }
        let targets = ["/search?q=100%25", "/a%25zz/%254", "/%25A"]
        #expect(origin.requests.map(\.target) == targets.flatMap { [$0, $0] })
    }

    @Test("gives a browser each cookie of the origin as the origin set it, also with a comma")
    func cookiesWithCommas() async throws {
        let origin = try ScriptedOrigin { _ in
            .ok("", fields: ["Set-Cookie": "prefs=lang=en,theme=dark; Path=/; HttpOnly", "Set-Cookie": "b=2"])
        }
        let fixture = try await GatewayFixture(origin: origin, interceptor: { $0.transport = .nio })
        let response = try await fixture.get("/", host: fixture.name(of: origin))
        #expect(response.all("Set-Cookie") == ["prefs=lang=en,theme=dark; Path=/; HttpOnly", "b=2"])
    }

    @Test("stores a cookie with a comma in the app's store as the origin set it")
    func storedCookiesWithCommas() async throws {
        let origin = try ScriptedOrigin { _ in
            .ok("", fields: ["Set-Cookie": "prefs=lang=en,theme=dark; Path=/; HttpOnly", "Set-Cookie": "b=2"])
        }
        let store = CookieStore()
        let fixture = try await GatewayFixture(origin: origin, cookies: store, interceptor: { $0.transport = .nio })
        _ = try await fixture.get("/", host: fixture.name(of: origin))
        #expect(store.cookies.map(\.pair) == ["prefs=lang=en,theme=dark", "b=2"])
        #expect(store.cookies.map(\.isHTTPOnly) == [true, false])
    }

    @Test("leaves out the fields that would keep a browser from showing the page")
    func policies() async throws {
        let origin = try ScriptedOrigin { _ in
            .ok(
                "x",
                fields: [
                    "Strict-Transport-Security": "max-age=1", "Alt-Svc": "h3=\":443\"",
                    "Content-Security-Policy": "default-src 'self' https://shop.example; upgrade-insecure-requests",
                    "Access-Control-Allow-Origin": "https://shop.example", "X-Frame-Options": "DENY",
                ]
            )
        }
        let fixture = try await GatewayFixture(origin: origin)
        let response = try await fixture.get("/", host: fixture.name(of: origin))
        #expect(response["Strict-Transport-Security"] == nil)
        #expect(response["Alt-Svc"] == nil)
        #expect(
            response["Content-Security-Policy"]
                == "default-src 'self' https://shop.example http://\(fixture.shop)"
        )
        #expect(response["Access-Control-Allow-Origin"] == "http://\(fixture.shop)")
        #expect(response["X-Frame-Options"] == "DENY")
    }

    @Test(
        "sends a body on as it came, however long and in whichever framing",
        arguments: [10, 3 << 20],
        [true, false]
    )
    func bodies(length: Int, isChunked: Bool) async throws {
        let origin = try ScriptedOrigin { .ok("\($0.bodyLength)") }
        let fixture = try await GatewayFixture(origin: origin)
        let body = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let connection = try RawConnection(fixture.port)
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)"
        connection.send(
            "POST /form HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nContent-Type: a/b\r\nConnection: close\r\n"
                + framing + "\r\n\r\n"
        )
        let half = length / 2
        for part in [body[..<half], body[half...]] {
            if isChunked { connection.send(String(part.count, radix: 16) + "\r\n") }
            connection.send(part)
            if isChunked { connection.send("\r\n") }
        }
        if isChunked { connection.send("0\r\n\r\n") }
        #expect(try #require(RawResponse(await connection.read())).text == "\(length)")
        let request = try #require(origin.requests.first)
        #expect(request.body == body)
        #expect(request.value(of: "Content-Type") == "a/b")
    }

    @Test(
        "takes white space around the value of a field (RFC 9112 §5)",
        arguments: ["", " ", "  ", "\t", " \t "],
        ["", " ", "\t", " \t "]
    )
    func paddedFields(before: String, after: String) async throws {
        let origin = try ScriptedOrigin { .ok(String(decoding: $0.body, as: UTF8.self)) }
        let fixture = try await GatewayFixture(origin: origin)
        for (framing, body) in [("Content-Length", "body"), ("Transfer-Encoding", "4\r\nbody\r\n0\r\n\r\n")] {
            let fields = [
                ("Host", fixture.name(of: origin)), (framing, framing == "Content-Length" ? "4" : "chunked"),
                ("Expect", "100-continue"), ("X-Own", "a b"), ("Sec-Fetch-Site", "same-origin"),
                ("Connection", "close"),
            ]
            let head = fields.map { "\($0):\(before)\($1)\(after)\r\n" }.joined()
            let connection = try RawConnection(fixture.port)
            connection.send("POST / HTTP/1.1\r\n\(head)\r\n\(body)")
            let received = String(decoding: await connection.read(), as: UTF8.self)
            #expect(received.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "\(received)")
            #expect(received.hasSuffix("\r\n\r\nbody"))
            #expect(origin.requests.last?.value(of: "X-Own") == "a b")
        }
    }

    @Test("refuses a body of a method that has none (RFC 9110 §9.3.1)", arguments: ["GET", "HEAD"])
    func bodyOfGet(method: String) async throws {
        let origin = try ScriptedOrigin { _ in .ok("page") }
        let fixture = try await GatewayFixture(origin: origin)
        let head = "\(method) / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nConnection: close\r\n"
        let chunks = "4\r\nbody\r\n0\r\n\r\n"
        for rest in ["Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n\(chunks)"] {
            let response = try await fixture.send(head + rest)
            #expect(response.status == 400)
            #expect(method == "HEAD" || response.text.contains("send the body with POST or PUT"))
        }
        #expect(origin.requestCount == 0)
        #expect(try await fixture.send(head + "Content-Length: 0\r\n\r\n").status == 200)
    }

    @Test("leaves out a cookie that no field can have, and delivers the response")
    func invalidCookie() async throws {
        let origin = try ScriptedOrigin { _ in .ok("page", fields: ["Set-Cookie": "a=\u{1}b"]) }
        let fixture = try await GatewayFixture(origin: origin) { $0.isProxy = true }
        let url = "http://127.0.0.1:\(origin.port)/"
        let response = try await fixture.send(
            "GET \(url) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nConnection: close\r\n\r\n"
        )
        #expect(response.status == 200 && response.text == "page")
        #expect(response["Set-Cookie"] == nil)
    }

    @Test("asks for a body that the client holds back")
    func expectation() async throws {
        let origin = try ScriptedOrigin { .ok(String(decoding: $0.body, as: UTF8.self)) }
        let fixture = try await GatewayFixture(origin: origin)
        let connection = try RawConnection(fixture.port)
        connection.send(
            "POST / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nExpect: 100-continue\r\nContent-Length: 4\r\n"
                + "Connection: close\r\n\r\n"
        )
        let first = await connection.read { $0.range(of: Data("\r\n\r\n".utf8)) != nil }
        #expect(RawResponse(first)?.status == 100)
        connection.send("body")
        #expect(RawResponse(await connection.read())?.text == "body")
    }

    @Test("refuses a body that is too large, with its length and without")
    func tooLarge() async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        let fixture = try await GatewayFixture(origin: origin) { $0.maximumBody = .bytes(10) }
        let head = "POST / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\n"
        let stated = try await fixture.send(head + "Content-Length: 11\r\n\r\n")
        #expect(stated.status == 413)
        #expect(stated.text.contains("`maximum-body` in a rules file"))
        let chunked = try await fixture.send(head + "Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n")
        #expect(chunked.status == 413)
        #expect(chunked.text.contains("GatewayOptions.maximumBody"))
        #expect(origin.requestCount == 0)
    }

    @Test("does not tell the origin for whom a client says that it asks, unless the app lets it")
    func forwardedFields() async throws {
        let origin = try ScriptedOrigin { _ in .ok("page") }
        for passes in [false, true] {
            let fixture = try await GatewayFixture(origin: origin) {
                $0.passesForwardedFields = passes
                $0.isProxy = true
            }
            for (target, host) in [
                ("/", fixture.name(of: origin)), (origin.url().absoluteString, "127.0.0.1:\(origin.port)"),
            ] {
                let fields = ["X-Forwarded-For: 10.0.0.1", "forwarded: for=10.0.0.1", "X-Forwarded-Host: bank.example"]
                #expect(try await fixture.get(target, host: host, fields).status == 200)
                let sent = try #require(origin.requests.last)
                for name in ["X-Forwarded-For", "Forwarded", "X-Forwarded-Host"] {
                    #expect((sent.value(of: name) != nil) == passes, "\(name)")
                }
            }
        }
    }

    @Test("names the URL that someone means who writes the labels of a site apart")
    func meantName() async throws {
        let fixture = try await GatewayFixture()
        let response = try await fixture.get("/", host: "www.shop.example.8443.localhost:\(fixture.port)")
        #expect(response.status == 421)
        #expect(response.text.contains("http://www.shop-example-8443.localhost:\(fixture.port)/"))
        #expect(
            try await fixture.get("/", host: "evil.example:\(fixture.port)").text.contains(
                "https://shop.example, for example, under the name http://shop-example.localhost:\(fixture.port)/."
            )
        )
    }

    @Test("refuses what no rule takes, and sends it on only with `forwardsUnclaimed`")
    func unclaimed() async throws {
        let origin = try ScriptedOrigin { _ in .ok("origin") }
        let name = "127-0-0-1-\(origin.port)-http.localhost"
        let fixture = try await GatewayFixture()
        let refused = try await fixture.get("/", host: "\(name):\(fixture.port)")
        #expect(refused.status == 403)
        #expect(refused.text.contains("No rule takes http://127.0.0.1:\(origin.port)/"))
        #expect(origin.requestCount == 0)
        let open = try await GatewayFixture { $0.forwardsUnclaimed = true }
        #expect(try await open.get("/", host: "\(name):\(open.port)").text == "origin")
    }

    @Test("passes on each part of a response as it arrives")
    func streaming() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data("first".utf8)), .wait(gate), .bytes(Data("second".utf8))])
        }
        let fixture = try await GatewayFixture(origin: origin)
        let connection = try RawConnection(fixture.port)
        connection.send("GET / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nConnection: close\r\n\r\n")
        let first = await connection.read { $0.range(of: Data("first".utf8)) != nil }
        #expect(RawResponse(first)?.status == 200)
        gate.open()
        #expect(String(decoding: await connection.read(), as: UTF8.self).contains("second"))
    }

    @Test("cancels the request to the origin when the browser leaves")
    func leaving() async throws {
        let origin = try ScriptedOrigin { _ in .unanswered }
        let fixture = try await GatewayFixture(origin: origin)
        let connection = try RawConnection(fixture.port)
        connection.send("GET / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\n\r\n")
        _ = await origin.waitForRequests(1)
        connection.leave()
        #expect(await origin.waitForAbandonedRequests(1).count == 1)
    }

    @Test("serves the requests of a connection one after another, those that were sent at once too")
    func pipelining() async throws {
        let fixture = try await GatewayFixture(files: ["1": "one", "2": "two"])
        let connection = try RawConnection(fixture.port)
        connection.send(
            "GET /1 HTTP/1.1\r\nHost: \(fixture.shop)\r\n\r\nGET /2 HTTP/1.1\r\nHost: \(fixture.shop)\r\n\r\n"
        )
        connection.send("GET /none HTTP/1.1\r\nHost: \(fixture.shop)\r\nConnection: close\r\n\r\n")
        let text = String(decoding: await connection.read(), as: UTF8.self)
        let parts = text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) + $0.suffix(3) }
        #expect(parts.prefix(2) == ["200one", "200two"])
        #expect(parts.count == 3)
    }

    @Test("answers what arrives during a response after it: a request, and bytes that are no request")
    func duringResponse() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { request in
            request.path == "/1" ? .stream([.wait(gate), .bytes(Data("one".utf8))]) : .ok("two")
        }
        let fixture = try await GatewayFixture(origin: origin)
        let connection = try RawConnection(fixture.port)
        let host = fixture.name(of: origin)
        connection.send("GET /1 HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        _ = await origin.waitForRequests(1)
        connection.send("GET /2 HTTP/1.1\r\nHost: \(host)\r\n\r\nnothing that can be parsed\r\n\r\n")
        gate.open()
        let text = String(decoding: await connection.read(), as: UTF8.self)
        let parts = text.components(separatedBy: "HTTP/1.1 ").dropFirst().prefix(3)
        #expect(parts.map { $0.prefix(3) } == ["200", "200", "400"])
        #expect(zip(parts, ["one", "two", "not a request"]).allSatisfy { $0.contains($1) })
    }

    @Test("refuses a request whose head is too large with 431")
    func largeHead() async throws {
        let fixture = try await GatewayFixture()
        let connection = try RawConnection(fixture.port)
        Thread.detachNewThread {
            let value = String(repeating: "x", count: 70_000)
            connection.send("GET / HTTP/1.1\r\nHost: \(fixture.shop)\r\nX: \(value)\r\n\r\n")
        }
        let answer = await connection.read { RawResponse($0)?.isWhole == true }
        #expect(RawResponse(answer)?.status == 431)
    }

    @Test(
        "says that it knows neither HTTP/2 nor IPv6 addresses, instead of that the request is malformed",
        arguments: [
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "the client speaks HTTP/2"),
            ("GET http://[::1]:3000/ HTTP/1.1\r\nHost: [::1]:3000\r\n\r\n", "an IPv6 address"),
        ]
    )
    func unsupported(request: String, reason: String) async throws {
        let fixture = try await GatewayFixture { $0.isProxy = true }
        let connection = try RawConnection(fixture.port)
        connection.send(request)
        let response = try #require(RawResponse(await connection.read { RawResponse($0)?.isWhole == true }))
        #expect(response.status == 400)
        #expect(response.text.contains(reason), "\(response.text)")
    }

    @Test("lists the methods that it takes, where it refuses one (RFC 9110 §15.5.6)")
    func allowedMethods() async throws {
        let fixture = try await GatewayFixture { $0.inspector = true }
        let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
        #expect(try await fixture.get("/", method: "TRACE")["Allow"] == methods)
        #expect(try await fixture.get("http://shop.example/", host: "shop.example")["Allow"] == methods)
        let inspector = "waystation.localhost:\(fixture.port)"
        #expect(try await fixture.get("/", host: inspector, method: "PUT")["Allow"] == "GET, POST")
        #expect(try await fixture.get("/")["Allow"] == nil)
    }

    @Test("answers thousands of requests that were sent at once, each in its turn")
    func manyAtOnce() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"])
        let connection = try RawConnection(fixture.port)
        // Answered from memory, and refused with the connection kept.
        let pair =
            "GET /a HTTP/1.1\r\nHost: \(fixture.shop)\r\n\r\n"
            + "GET / HTTP/1.1\r\nHost: other.localhost:\(fixture.port)\r\n\r\n"
        let last = "GET /a HTTP/1.1\r\nHost: \(fixture.shop)\r\nConnection: close\r\n\r\n"
        Thread.detachNewThread { connection.send(String(repeating: pair, count: 5_000) + last) }
        let answers = String(decoding: await connection.read(), as: UTF8.self).components(separatedBy: "HTTP/1.1 ")
        #expect(answers.filter { $0.hasPrefix("200") }.count == 5_001)
        #expect(answers.filter { $0.hasPrefix("403") }.count == 5_000)
    }

    @Test("ignores interim responses, and refuses one in place of a final one")
    func interim() async throws {
        let origin = try ScriptedOrigin { request in
            let final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            return .raw(
                Data(("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + (request.path == "/" ? final : "")).utf8)
            )
        }
        let fixture = try await GatewayFixture(origin: origin)
        let answer = try await fixture.get("/", host: fixture.name(of: origin))
        #expect(answer.status == 200)
        #expect(answer.text == "ok")
        #expect(try await fixture.get("/none", host: fixture.name(of: origin)).status == 502)
    }

    @Test("takes the characters that browsers leave unencoded")
    func spelling() async throws {
        let origin = try ScriptedOrigin { .ok($0.target) }
        let fixture = try await GatewayFixture(origin: origin)
        let target = "/p?a[]=1&b={2}|3^`%20%7C"
        let answer = try await fixture.get(target, host: fixture.name(of: origin))
        #expect(answer.text == "/p?a%5B%5D=1&b=%7B2%7D%7C3%5E%60%20%7C")
    }

    @Test("ends a connection that offers another protocol after its answer")
    func upgrade() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"])
        let answer = try await fixture.send(
            "GET /a HTTP/1.1\r\nHost: \(fixture.shop)\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        )
        #expect(answer.text == "a")
        #expect(answer["Connection"] == "close")
    }

    @Test("keeps a connection of HTTP/1.0 only if it says so, and ends a body of unknown length with it")
    func oldClients() async throws {
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("body".utf8))]) }
        let fixture = try await GatewayFixture(files: ["a": "a"], origin: origin)
        let connection = try RawConnection(fixture.port)
        connection.send("GET /a HTTP/1.0\r\nHost: \(fixture.shop)\r\nConnection: keep-alive\r\n\r\n")
        let kept = RawResponse(await connection.read { $0.last == UInt8(ascii: "a") })
        #expect(kept?["Connection"] == "keep-alive")
        connection.send("GET / HTTP/1.0\r\nHost: \(fixture.name(of: origin))\r\nConnection: keep-alive\r\n\r\n")
        let closed = RawResponse(await connection.read())
        #expect(closed?["Connection"] == "close")
        #expect(closed?["Transfer-Encoding"] == nil)
        #expect(closed?.text == "body")
    }

    @Test("leaves out fields of an origin that may not be sent")
    func invalidFields() async throws {
        let origin = try ScriptedOrigin { _ in
            .raw(Data("HTTP/1.1 200 OK\r\nX-Bad: a\u{1}b\r\nX-Good: c\r\nContent-Length: 2\r\n\r\nok".utf8))
        }
        let fixture = try await GatewayFixture(origin: origin)
        let answer = try await fixture.get("/", host: fixture.name(of: origin))
        #expect(answer.text == "ok")
        #expect(answer["X-Good"] == "c")
        #expect(answer["X-Bad"] == nil)
    }

    @Test("closes a connection whose response ends too early")
    func truncation() async throws {
        let origin = try ScriptedOrigin { _ in .truncated(Data(repeating: 1, count: 100_000), after: 50_000) }
        let fixture = try await GatewayFixture(origin: origin)
        let response = try await fixture.get("/", host: fixture.name(of: origin))
        #expect(response["Content-Length"] == "100000")
        #expect(response.body.count < 100_000)
    }

    @Test("says why a load failed")
    func failures() async throws {
        let origin = try ScriptedOrigin { _ in .closed }
        let fixture = try await GatewayFixture(origin: origin)
        let failed = try await fixture.get("/", host: fixture.name(of: origin))
        #expect(failed.status == 502)
        #expect(failed.text.contains("http://127.0.0.1:\(origin.port)/ cannot be loaded"))
    }

    @Test("ends after the present request when it is stopped")
    func stopping() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .ok("late").held(at: gate) }
        let fixture = try await GatewayFixture(origin: origin)
        let connection = try RawConnection(fixture.port)
        connection.send("GET / HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\n\r\n")
        _ = await origin.waitForRequests(1)
        let idle = try RawConnection(fixture.port)
        async let stopped: Void = fixture.gateway.stop(within: .seconds(600))
        #expect(await idle.read().isEmpty)
        gate.open()
        #expect(RawResponse(await connection.read())?.text == "late")
        await stopped
        #expect(fixture.gateway.port == nil)
    }

    @Test("releases everything with its last connection")
    func releasing() async throws {
        weak var released: Interceptor?
        do {
            let fixture = try await GatewayFixture(files: ["a": "a"])
            released = fixture.interceptor
            #expect(try await fixture.get("/a").text == "a")
            await fixture.gateway.stop()
        }
        // The event loop ends what it was doing.
        #expect(await eventually { released == nil })
    }

    @Test("does not leave its sockets to programs that the app starts")
    func inheritance() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"])
        let connection = try RawConnection(fixture.port)
        connection.send("GET /a HTTP/1.1\r\nHost: \(fixture.shop)\r\n\r\n")
        _ = await connection.read { $0.last == UInt8(ascii: "a") }
        let sockets = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
            .filter { Self.port(of: $0) == fixture.port }
        // The listeners of IPv4 and of IPv6, if the machine has it, and the connection.
        #expect(sockets.count >= 2)
        #expect(sockets.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
    }

    /// The local port of a socket; nil for other descriptors.
    private static func port(of descriptor: CInt) -> Int? {
        LoopbackAddress.port { getsockname(descriptor, $0, $1) }.map { Int($0) }
    }

    @Test("runs until its task is cancelled, and as a service until its group is shut down", arguments: [true, false])
    func running(isService: Bool) async throws {
        let interceptor = try Interceptor { $0.rules = [.allow("https://shop.example/**", via: .nowhere)] }
        let gateway = Gateway(interceptor)
        try await gateway.start()
        let port = try #require(gateway.port)
        let group = ServiceGroup(services: [gateway], logger: Logger(label: "test"))
        let running = Task { if isService { try await group.run() } else { try await gateway.run() } }
        #expect(RawResponse(try await Self.answer(at: port))?.status == 404)
        if isService { await group.triggerGracefulShutdown() } else { running.cancel() }
        try await running.value
        #expect(gateway.port == nil)
        #expect(throws: RawConnection.Failure.self) { try RawConnection(port) }
    }

    private static func answer(at port: Int) async throws -> Data {
        let connection = try RawConnection(port)
        connection.send("GET / HTTP/1.1\r\nHost: shop-example.localhost:\(port)\r\nConnection: close\r\n\r\n")
        return await connection.read()
    }

    @Test("cannot be started on a port that is in use, and says so")
    func portInUse() async throws {
        let fixture = try await GatewayFixture()
        let second = Gateway(fixture.interceptor) { $0.port = fixture.port }
        let error = await #expect(throws: GatewayError.self) { try await second.start() }
        #expect(error?.code == .notListening)
        #expect(error?.cause != nil)
        #expect(
            error?.message
                == "port \(fixture.port) of 127.0.0.1 is in use: stop the program that has it, or choose another port"
        )
    }
}
#endif
