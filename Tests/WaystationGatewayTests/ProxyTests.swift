#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationNIO
import WaystationTesting

@Suite("A gateway as a proxy", .timeLimit(.minutes(10)))
struct ProxyTests {
    @Test("answers a request for a URL by the rules, and leaves the response as it is")
    func absoluteForm() async throws {
        let origin = try ScriptedOrigin { _ in .redirect(to: "https://shop.example/a") }
        let fixture = try await GatewayFixture(origin: origin) { $0.isProxy = true }
        let response = try await fixture.get(origin.url("/x?y").absoluteString, host: "127.0.0.1:\(origin.port)")
        #expect(response.status == 302)
        #expect(response["Location"] == "https://shop.example/a")
        #expect(origin.requests.map(\.target) == ["/x?y"])
    }

    @Test("leaves a stored redirect as it is, which a browser gets translated by the gateway's name")
    func storedRedirect() async throws {
        let folder = try TemporaryFolder()
        let origin = try ScriptedOrigin { _ in
            .status(302, fields: ["Location": "https://shop.example/a", "Cache-Control": "max-age=1000"])
        }
        let cache = try ResponseCache(directory: folder.url)
        let now = Date()
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            $0.rules.append(.allow("\(origin.url())**", via: .cache(.standard)))
            $0.cache = cache
            // With one age, the store answers with one object.
            $0.now = { now }
        }
        let (named, proxied) = ("http://shop-example.localhost:\(fixture.port)/a", "https://shop.example/a")
        _ = try await fixture.get("/x", host: fixture.name(of: origin))
        await cache.flush()
        for _ in 1...2 {
            let translated = try await fixture.get("/x", host: fixture.name(of: origin))
            #expect(translated["Location"] == named)
            #expect(translated["Cache-Status"]?.hasPrefix("Waystation; hit") == true)
            let asItIs = try await fixture.get(
                origin.url("/x").absoluteString,
                host: "127.0.0.1:\(origin.port)"
            )
            #expect(asItIs["Location"] == proxied)
            #expect(asItIs["Cache-Status"]?.hasPrefix("Waystation; hit") == true)
        }
        #expect(origin.requestCount == 1)
    }

    @Test("refuses a URL that no rule takes")
    func unclaimed() async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        let fixture = try await GatewayFixture { $0.isProxy = true }
        let response = try await fixture.get(origin.url().absoluteString, host: "127.0.0.1:\(origin.port)")
        #expect(response.status == 403)
        #expect(origin.requestCount == 0)
    }

    @Test("passes on the bytes of a tunnel in both directions, and the end of each")
    func tunnel() async throws {
        let body = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let origin = try ScriptedOrigin { .ok($0.body) }
        let fixture = try await GatewayFixture { $0.isProxy = true }
        let connection = try RawConnection(fixture.port)
        // The bytes behind the head belong to the tunnel already.
        connection.send(
            "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n"
                + "POST /deep HTTP/1.1\r\nHost: inner.example\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        )
        connection.send(body)
        let answer = await connection.read()
        let head = Data("HTTP/1.1 200 Connection Established\r\n\r\n".utf8)
        #expect(answer.prefix(head.count) == head)
        #expect(RawResponse(Data(answer.dropFirst(head.count)))?.body == body)
        #expect(origin.requests.first?.value(of: "Host") == "inner.example")
    }

    @Test(
        "opens a tunnel for a client of HTTP/1.0 without Host, and for a Host without the port (RFC 9112 §3.2.3)",
        arguments: [
            " HTTP/1.0\r\n\r\n", " HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n",
            " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        ]
    )
    func oldClients(rest: String) async throws {
        let origin = try ScriptedOrigin { _ in .ok("inner") }
        let fixture = try await GatewayFixture { $0.isProxy = true }
        let connection = try RawConnection(fixture.port)
        connection.send("CONNECT 127.0.0.1:\(origin.port)" + rest)
        connection.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(String(decoding: await connection.read(), as: UTF8.self).hasSuffix("inner"))
    }

    @Test("answers a request for a URL by HTTP/1.0 without Host")
    func absoluteFormWithoutHost() async throws {
        let origin = try ScriptedOrigin { _ in .ok("inner") }
        let fixture = try await GatewayFixture(origin: origin) { $0.isProxy = true }
        #expect(try await fixture.send("GET \(origin.url("/x")) HTTP/1.0\r\n\r\n").text == "inner")
        #expect(origin.requests.first?.value(of: "Host") == "127.0.0.1:\(origin.port)")
    }

    @Test("connects to a host with several addresses, of which one does not answer")
    func severalAddresses() async throws {
        let origin = try ScriptedOrigin { _ in .ok("inner") }
        let fixture = try await GatewayFixture { $0.isProxy = true }
        let authority = "localhost:\(origin.port)"
        let connection = try RawConnection(fixture.port)
        connection.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        connection.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(String(decoding: await connection.read(), as: UTF8.self).hasSuffix("inner"))
    }

    @Test("sends no cookies of the app for a page that the rules do not take")
    func foreignPages() async throws {
        let origin = try ScriptedOrigin { _ in .ok("", fields: ["Set-Cookie": "sid=2; HttpOnly"]) }
        let store = CookieStore()
        try store.insert(
            Cookie(name: "sid", value: "1", domain: "127.0.0.1", isHostOnly: true, sameSite: .strict, creation: Date())
        )
        let fixture = try await GatewayFixture(origin: origin, cookies: store) { $0.isProxy = true }
        let (url, host) = (origin.url().absoluteString, "127.0.0.1:\(origin.port)")
        let own = try await fixture.get(url, host: host, ["Cookie: sid=old"])
        #expect(origin.requests.last?.value(of: "Cookie") == "sid=1")
        #expect(own["Set-Cookie"] == nil)
        _ = try await fixture.get(url, host: host, ["Referer: http://evil.example/"])
        #expect(origin.requests.count == 2)
        #expect(origin.requests.last?.value(of: "Cookie")?.contains("sid=1") != true)
        let posted = try await fixture.get(url, host: host, method: "POST", ["Origin: http://evil.example"])
        #expect(posted.status == 403)
        #expect(origin.requests.count == 2)
    }

    @Test("takes the requests of pages of the same origin, and of other hosts of the rules, if rules name only paths")
    func pagesOfSomePaths() async throws {
        let (shop, api) = (try ScriptedOrigin { _ in .ok("shop") }, try ScriptedOrigin { _ in .ok("api") })
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            $0.rules = [
                .allow("\(shop.url())app/**", via: .network),
                .allow("\(api.url())v1/**", methods: ["OPTIONS", "POST"], via: .network),
                .block("http://ads.example/**"),
            ]
        }
        func status(of target: URL, _ method: String, from page: String) async throws -> Int {
            let host = "127.0.0.1:\(target.port ?? 80)"
            return try await fixture.get(target.absoluteString, host: host, method: method, ["Origin: \(page)"]).status
        }
        let (order, call) = (shop.url("/app/order"), api.url("/v1/call"))
        let (shopPage, apiPage) = ("http://127.0.0.1:\(shop.port)", "http://127.0.0.1:\(api.port)")
        #expect(try await status(of: order, "POST", from: shopPage) == 200)
        #expect(try await status(of: call, "OPTIONS", from: shopPage) == 200)
        #expect(try await status(of: call, "POST", from: shopPage) == 200)
        #expect(try await status(of: call, "POST", from: apiPage) == 200)
        for page in ["http://evil.example", "https://127.0.0.1:\(shop.port)", "http://ads.example", "null"] {
            #expect(try await status(of: order, "POST", from: page) == 403, "\(page)")
        }
        #expect([shop, api].map(\.requestCount) == [1, 3])
    }

    @Test("refuses the requests of pages whose host is blocked before a rule for every host, or named by no rule")
    func pagesOfNoRule() async throws {
        let shop = try ScriptedOrigin { _ in .ok("shop") }
        let blocking: [Rule] = [.block("http://ads.example/**"), .allow("http://*:*/**", via: .network)]
        let naming: [Rule] = [
            .allow("\(shop.url())**", via: .network), .allow("http://*/**/*.css", via: .network),
        ]
        for (rules, page, status) in [
            (blocking, "http://ads.example", 403), (blocking, "http://news.example", 200),
            (naming, "http://evil.example", 403), (naming, "http://127.0.0.1:\(shop.port)", 200),
        ] {
            let fixture = try await GatewayFixture {
                $0.isProxy = true
            } interceptor: {
                $0.rules = rules
            }
            let response = try await fixture.get(
                shop.url("/order").absoluteString,
                host: "127.0.0.1:\(shop.port)",
                method: "POST",
                ["Origin: \(page)"]
            )
            #expect(response.status == status, "\(page)")
        }
        #expect(shop.requestCount == 2)
    }

    @Test("takes the requests of an origin's own pages if it forwards requests that no rule takes")
    func ownPagesWithoutRule() async throws {
        let origin = try ScriptedOrigin { _ in .ok("ok") }
        let fixture = try await GatewayFixture {
            $0.isProxy = true
            $0.forwardsUnclaimed = true
        }
        for (page, status) in [("http://127.0.0.1:\(origin.port)", 200), ("http://127.0.0.1", 403)] {
            let response = try await fixture.get(
                origin.url("/a").absoluteString,
                host: "127.0.0.1:\(origin.port)",
                method: "POST",
                ["Origin: \(page)"]
            )
            #expect(response.status == status)
        }
    }

    @Test("makes tunnels through the proxy for https that the engine uses")
    func tunnelThroughProxy() async throws {
        let origin = try ScriptedOrigin { _ in .ok("inner") }
        let upstream = try ScriptedOrigin { request in
            request.target.hasPrefix("shop.example") ? .tunnel(to: UInt16(origin.port)) : .status(403)
        }
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            var options = NIOOptions()
            options.environment = [
                "https_proxy": "http://user:secret@127.0.0.1:\(upstream.port)", "no_proxy": "127.0.0.1",
            ]
            $0.transport = .nio(options)
        }
        func connect(_ authority: String) async throws -> String {
            let connection = try RawConnection(fixture.port)
            connection.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            connection.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return String(decoding: await connection.read(), as: UTF8.self)
        }
        #expect(try await connect("shop.example:443").hasSuffix("inner"))
        let asked = try #require(upstream.requests.first)
        #expect(asked.method == "CONNECT")
        #expect(asked.target == "shop.example:443")
        #expect(asked.value(of: "Proxy-Authorization") == "Basic dXNlcjpzZWNyZXQ=")
        let refused = try await connect("other.example:443")
        #expect(refused.hasPrefix("HTTP/1.1 502 "))
        #expect(refused.contains("the proxy answered CONNECT with the status 403"))
        #expect(try await connect("127.0.0.1:\(origin.port)").hasSuffix("inner"))
        #expect(upstream.requestCount == 2)
    }

    @Test(
        "refuses a tunnel through a proxy that it cannot use, with the reason and without the proxy's password",
        arguments: [
            ("socks5://user:secret@127.0.0.1:1", "of the kind socks5, which is not supported"),
            ("http://user:secret@127.0.0.1:x", "whose port is not a number from 1 to 65535"),
        ]
    )
    func unusableProxy(proxy: String, reason: String) async throws {
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            var options = NIOOptions()
            options.environment = ["https_proxy": proxy]
            $0.transport = .nio(options)
        }
        let authority = "shop.example:443"
        let response = try await fixture.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        #expect(response.status == 502)
        #expect(response.text.contains(reason), "\(response.text)")
        #expect(!response.text.contains("secret"))
    }

    @Test("makes no tunnel to a host of which every URL is blocked, and one to every other host")
    func blockedTunnels() async throws {
        let origin = try ScriptedOrigin { _ in .ok("inner") }
        let authority = "127.0.0.1:\(origin.port)"
        let (https, http) = ("https://\(authority)", "http://\(authority)")
        let cases: [(rules: [Rule], status: Int)] = [
            ([.block("\(https)/**")], 403), ([.block("\(http)/**")], 403), ([.block("*://*:*/**")], 403),
            ([.block("https://*:\(origin.port)/**"), .allow("\(https)/**", via: .network)], 403),
            ([.block("\(https)/a/**"), .block("\(https)/**")], 403),
            // Some URLs are not blocked, or not all requests for them are.
            ([.allow("\(https)/a/**", via: .network), .block("\(https)/**")], 200),
            ([.block("\(https)/a/**")], 200), ([.block("\(https)/**", methods: ["POST"])], 200),
            ([.block("https://127.0.0.1/**")], 200), ([.block("https://other.example:\(origin.port)/**")], 200),
            // What a client speaks within the tunnel is not known.
            ([.allow("\(https)/**", via: .network), .block("http://*:*/**")], 200), ([], 200),
        ]
        for (rules, status) in cases {
            let fixture = try await GatewayFixture {
                $0.isProxy = true
            } interceptor: {
                $0.rules = rules
            }
            let connection = try RawConnection(fixture.port)
            connection.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            connection.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let received = String(decoding: await connection.read(), as: UTF8.self)
            #expect(received.hasPrefix("HTTP/1.1 \(status) "), "\(rules) \(received)")
            #expect(status == 200 || received.contains("A rule blocks every URL at \(authority)"))
            // The interceptor decides about its rules only while it is on.
            fixture.interceptor.isEnabled = false
            let open = try RawConnection(fixture.port)
            open.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            open.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(String(decoding: await open.read(), as: UTF8.self).hasSuffix("inner"))
        }
    }

    @Test("makes no tunnel for https or http at their own ports if their origin is blocked")
    func blockedStandardPorts() async throws {
        let fixture = try await GatewayFixture {
            $0.isProxy = true
        } interceptor: {
            $0.rules = [.block("https://ads.example/**"), .block("http://**.track.example/**")]
        }
        for (authority, status) in [
            ("ads.example:443", 403), ("ADS.example:443", 403), ("a.track.example:80", 403),
            ("[::1]:1", 502), ("ads.example:0", 400),
        ] {
            let response = try await fixture.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
            #expect(response.status == status, "\(authority)")
        }
    }

    @Test("reports a host that does not answer")
    func noHost() async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        defer { withExtendedLifetime(origin) {} }
        origin.stop()
        let fixture = try await GatewayFixture { $0.isProxy = true }
        let authority = "127.0.0.1:\(origin.port)"
        let response = try await fixture.send("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        #expect(response.status == 502)
        #expect(response.text.contains("No connection to \(authority)"))
    }
}
#endif
