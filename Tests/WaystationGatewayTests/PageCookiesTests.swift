#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationTesting

@Suite("The cookies of a page at a gateway", .timeLimit(.minutes(10)))
struct PageCookiesTests {
    private let store = CookieStore()

    private func cookie(_ name: String, _ value: String = "1", isHTTPOnly: Bool = false) throws -> Cookie {
        try Cookie(name: name, value: value, domain: "shop.example", isHTTPOnly: isHTTPOnly, creation: Date())
    }

    @Test("are those of the app that a page may read; tokens stay in the app")
    func given() async throws {
        try store.insert(cookie("theme", "dark"))
        try store.insert(cookie("token", "secret", isHTTPOnly: true))
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        let response = try await fixture.get("/a")
        let fields = response.all("Set-Cookie")
        #expect(fields.contains("theme=dark; Path=/; Domain=shop-example.localhost"))
        #expect(!fields.contains { $0.contains("secret") })
        var browser = CookieBrowser()
        browser.take(response)
        // The browser is not given a cookie that it has.
        #expect(try await fixture.get("/a", browser.field).all("Set-Cookie").isEmpty)
    }

    @Test("are those without Secure for a page that the origin shows by http (RFC 6265 §5.4)")
    func secure() async throws {
        try store.insert(Cookie(name: "csrf", value: "s", domain: "shop.example", isSecure: true, creation: Date()))
        try store.insert(cookie("theme", "dark"))
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store) { _ in
        } interceptor: {
            let network = ScriptedTransport { _ in .ok("a") }
            $0.rules.append(.allow("http://shop.example/**", via: .carried(by: network, as: "the network")))
        }
        let plain = try await fixture.get("/a", host: "shop-example-http.localhost:\(fixture.port)").all("Set-Cookie")
        #expect(plain.contains("theme=dark; Path=/; Domain=shop-example-http.localhost"))
        #expect(!plain.contains { $0.hasPrefix("csrf=s") })
        let secure = try await fixture.get("/a").all("Set-Cookie")
        #expect(secure.contains("csrf=s; Path=/; Domain=shop-example.localhost"))
    }

    @Test("reach the app when the page sets them, and leave it when the page removes them")
    func taken() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/a"))
        browser.jar["cart"] = "3"
        browser.take(try await fixture.get("/a", browser.field))
        let taken = try #require(store.cookies.first)
        #expect(taken.pair == "cart=3")
        #expect(taken.isSecure && taken.isHostOnly && taken.domain == "shop.example")
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["cart"] == "3")
        browser.jar["cart"] = nil
        // A request for another resource may have been sent before.
        browser.take(try await fixture.get("/a", browser.field))
        #expect(store.cookies.map(\.pair) == ["cart=3"])
        browser.take(try await fixture.get("/a", browser.field + ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: none"]))
        #expect(store.cookies.isEmpty)
        #expect(browser.jar["cart"] == nil)
    }

    @Test("follow the changes of the app")
    func changed() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        try store.insert(cookie("theme", "dark"))
        browser.take(try await fixture.get("/a"))
        try store.insert(cookie("theme", "light"))
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["theme"] == "light")
        #expect(store.cookies.map(\.pair) == ["theme=light"])
        store.removeAll()
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["theme"] == nil)
        #expect(store.cookies.isEmpty)
    }

    @Test("of an earlier run are not taken over, and are removed")
    func earlier() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser(jar: ["waystation-browser": "0123", "session": "old"])
        browser.take(try await fixture.get("/a", browser.field))
        #expect(store.cookies.isEmpty)
        #expect(Array(browser.jar.keys) == ["waystation-browser"])
    }

    @Test("of the app are set again in a browser that has them from an earlier run")
    func earlierOfApp() async throws {
        try store.insert(
            Cookie(name: "session", value: "new", domain: "shop.example", isHostOnly: true, creation: Date())
        )
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser(jar: ["session": "old", "__Host-own": "old"])
        let response = try await fixture.get("/a", browser.field)
        browser.take(response)
        #expect(browser.jar["session"] == "new")
        #expect(browser.jar["__Host-own"] == nil)
        // Browsers ignore a removal without `Secure` for a name with this prefix.
        #expect(response.all("Set-Cookie").contains("__Host-own=; Path=/; Max-Age=0; Secure"))
    }

    @Test("of an earlier run do not reach the app later, if the browser keeps them")
    func earlierWithDomain() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser(jar: ["session": "old"])
        browser.take(try await fixture.get("/a", browser.field))
        // It had a domain, so the gateway's removal did not match it.
        browser.jar["session"] = "old"
        browser.take(try await fixture.get("/a", browser.field))
        #expect(store.cookies.isEmpty)
    }

    @Test("do not replace a token of the app, which no page may see")
    func tokens() async throws {
        try store.insert(cookie("token", "secret", isHTTPOnly: true))
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/a"))
        browser.jar["token"] = "evil"
        browser.take(try await fixture.get("/a", browser.field))
        #expect(store.cookies.map(\.pair) == ["token=secret"])
    }

    @Test("do not replace a cookie of the app that the browser has, too, with another domain or path")
    func planted() async throws {
        try store.insert(
            Cookie(name: "session", value: "app", domain: "shop.example", isHostOnly: true, creation: Date())
        )
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/a"))
        let own = try #require(browser.field.first)
        for field in [own + "; session=planted", own.replacing("Cookie: ", with: "Cookie: session=planted; ")] {
            for more in [[], ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: none"]] {
                browser.take(try await fixture.get("/a", [field] + more))
                #expect(store.cookies.map(\.pair) == ["session=app"])
            }
        }
        // The page itself can still change the cookie.
        browser.jar["session"] = "page"
        browser.take(try await fixture.get("/a", browser.field))
        #expect(store.cookies.map(\.pair) == ["session=page"])
    }

    @Test("follow a page that changes its mind")
    func toggled() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/a"))
        for value in ["de", "en", "de"] {
            browser.jar["lang"] = value
            browser.take(try await fixture.get("/a", browser.field))
            #expect(store.cookies.map(\.pair) == ["lang=\(value)"])
            #expect(browser.jar["lang"] == value)
        }
    }

    @Test("keep their path when the page changes their value")
    func changedWithPath() async throws {
        let origin = try ScriptedOrigin { request in
            .ok("", fields: request.path == "/app/x" ? ["Set-Cookie": "lang=de"] : [:])
        }
        let fixture = try await GatewayFixture(origin: origin, cookies: store)
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/app/x", host: fixture.name(of: origin)))
        #expect(browser.jar["lang"] == "de")
        browser.jar["lang"] = "en"
        let response = try await fixture.get("/app/y", host: fixture.name(of: origin), browser.field)
        #expect(origin.requests.last?.value(of: "Cookie") == "lang=en")
        #expect(response.all("Set-Cookie").isEmpty)
        #expect(store.cookies.map(\.pair) == ["lang=en"])
        #expect(store.cookies.map(\.path) == ["/app"])
    }

    @Test("keep their domain, expiry and SameSite when the page changes their value")
    func changedWithDomain() async throws {
        let expires = Date().addingTimeInterval(3_600)
        try store.insert(
            Cookie(
                name: "lang",
                value: "de",
                domain: "shop.example",
                expires: expires,
                sameSite: .strict,
                creation: Date()
            )
        )
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        for _ in 0..<2 { browser.take(try await fixture.get("/a", browser.field)) }
        browser.jar["lang"] = "en"
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["lang"] == "en")
        let changed = try #require(store.cookies.first)
        #expect(store.cookies.count == 1)
        #expect(changed.pair == "lang=en")
        #expect(!changed.isHostOnly && changed.expires == expires && changed.sameSite == .strict)
    }

    @Test("are not removed by a page of another site, or by a page of another folder")
    func absence() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a", "shop/b": "b"], cookies: store)
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/a"))
        let mark = browser.field
        browser.jar["cart"] = "3"
        for _ in 0..<2 { browser.take(try await fixture.get("/shop/b", browser.field)) }
        _ = try await fixture.get("/a", mark + ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: same-origin"])
        _ = try await fixture.get("/shop/b", mark + ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: cross-site"])
        #expect(store.cookies.map(\.pair) == ["cart=3"])
        _ = try await fixture.get("/shop/b", mark + ["Sec-Fetch-Dest: document", "Sec-Fetch-Site: same-origin"])
        #expect(store.cookies.isEmpty)
    }

    /// Gives the app the cookies `strict=1` and `lax=1`, with these values of `SameSite`, for 127.0.0.1.
    private func insertStrictAndLax() throws {
        for (name, sameSite) in [("strict", SameSite.strict), ("lax", .lax)] {
            try store.insert(
                Cookie(
                    name: name,
                    value: "1",
                    domain: "127.0.0.1",
                    isHostOnly: true,
                    sameSite: sameSite,
                    creation: Date()
                )
            )
        }
    }

    @Test(
        "are sent for a page of another site as SameSite allows, and all for one of the same site",
        arguments: [
            ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: image", []),
            ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: document", ["lax=1"]),
            ("Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: image", ["lax=1", "strict=1"]),
            ("Referer: https://evil.example/", []),
            ("Origin: null\r\nSec-Fetch-Site: same-origin", ["lax=1", "strict=1"]),
            // Another port is another origin of the same site.
            (
                "Referer: http://127-0-0-1-1-http.localhost:PORT/\r\nSec-Fetch-Site: same-site\r\n"
                    + "Sec-Fetch-Dest: document",
                ["lax=1", "strict=1"]
            ),
        ]
    )
    func sameSite(fields: String, sent: [String]) async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        try insertStrictAndLax()
        let fixture = try await GatewayFixture(origin: origin, cookies: store)
        let fields = fields.replacing("PORT", with: "\(fixture.port)")
        _ = try await fixture.get("/", host: fixture.name(of: origin), [fields])
        let cookies = try #require(origin.requests.first).value(of: "Cookie")
        #expect(cookies?.components(separatedBy: "; ").sorted() ?? [] == sent)
    }

    @Test(
        "are sent as for any link when the user follows one from another site of the gateway",
        arguments: [("document", "GET", ["lax=1"]), ("document", "POST", []), ("image", "GET", [])]
    )
    func linkWithinGateway(destination: String, method: String, sent: [String]) async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        try insertStrictAndLax()
        let fixture = try await GatewayFixture(origin: origin, cookies: store)
        let fields = [
            "Referer: http://\(fixture.shop)/", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: \(destination)",
            "Content-Length: 0",
        ]
        _ = try await fixture.get("/", host: fixture.name(of: origin), method: method, fields)
        let cookies = try #require(origin.requests.first).value(of: "Cookie")
        #expect(cookies?.components(separatedBy: "; ") ?? [] == sent)
    }

    @Test("are chosen by the app's store for the request to the origin")
    func sent() async throws {
        let origin = try ScriptedOrigin { _ in
            .ok("", fields: ["Set-Cookie": "sid=1; HttpOnly", "Set-Cookie": "seen=2"])
        }
        let fixture = try await GatewayFixture(origin: origin, cookies: store)
        let name = fixture.name(of: origin)
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/", host: name))
        #expect(browser.jar["seen"] == "2")
        #expect(browser.jar["sid"] == nil)
        browser.jar["own"] = "3"
        browser.take(try await fixture.get("/", host: name, browser.field))
        let field = try #require(origin.requests.last?.value(of: "Cookie"))
        #expect(Set(field.components(separatedBy: "; ")) == ["sid=1", "seen=2", "own=3"])
    }

    @Test("stay with the browser, under the gateway's name, if the app has none")
    func withoutStore() async throws {
        let origin = try ScriptedOrigin { _ in
            .ok(
                "",
                fields: [
                    "Set-Cookie": "a=1; Secure; HttpOnly; Path=/", "Set-Cookie": "b=2; Domain=127.0.0.1; SameSite=Lax",
                    "Set-Cookie": "__Host-c=3; Secure; Path=/", "Set-Cookie": "d=4; Domain=evil.example",
                ]
            )
        }
        let fixture = try await GatewayFixture(origin: origin)
        let name = fixture.name(of: origin)
        let response = try await fixture.get("/", host: name, ["Cookie: a=1", "Cookie: x=9"])
        let local = name.prefix { $0 != ":" }
        #expect(
            Set(response.all("Set-Cookie")) == [
                "a=1; HttpOnly; Path=/", "b=2; Domain=\(local); SameSite=Lax", "__Host-c=3; Secure; Path=/",
            ]
        )
        #expect(origin.requests.first?.value(of: "Cookie") == "a=1; x=9")
    }
}
#endif
