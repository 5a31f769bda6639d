#if Gateway
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationTestSupport
import WaystationTesting

/// Chromium takes the names of two origins for one site if their origins are of one site.
@Suite("The sites of origins in a browser", .timeLimit(.minutes(10)))
struct BrowserSiteTests {
    /// Every origin of the web, without a socket.
    ///
    /// The path `/set` sets the cookie that the query has.
    private let web = ScriptedTransport { request in
        var fields = ["Content-Type": "text/html"]
        if request.url?.path() == "/set" {
            fields["Set-Cookie"] = request.url?.query(percentEncoded: true)?.removingPercentEncoding
        }
        return .ok("<!doctype html><link rel=icon href='data:,'><script>result = 'shown'</script>", fields: fields)
    }

    private func gateway(cookies: CookieStore? = nil) async throws -> GatewayFixture {
        try await GatewayFixture(cookies: cookies) {
            _ in
        } interceptor: { [web] in
            $0.rules = [.allow("*://*:*/**", via: .carried(by: web, as: "the web"))]
        }
    }

    /// Opens the page at an origin's URL under the gateway's name.
    private func open(_ url: String, on page: Page, of fixture: GatewayFixture) async throws {
        let remote = try #require(URL(string: url))
        try await page.open(try #require(fixture.gateway.url(for: remote)))
        try await page.waitUntil(GatewayFixture.hasResult)
    }

    /// Posts a form of the present page to an origin's URL, and returns the request that reaches the origin.
    private func post(to url: String, on page: Page, of fixture: GatewayFixture) async throws -> URLRequest {
        let remote = try #require(URL(string: url))
        let local = try #require(fixture.gateway.url(for: remote)).absoluteString
        let count = web.requests.count
        try await page.evaluate(
            """
            const form = document.createElement("form");
            Object.assign(form, { method: "post", action: "\(local)" });
            document.body.append(form);
            form.submit();
            """
        )
        return try #require(await web.waitForRequests(count + 1).dropFirst(count).first)
    }

    @Test(
        "are not one for the cookies of a page, if hosts have nothing in common but a public suffix, or differ in the scheme",
        arguments: [
            ("https://evil.com/", "https://shop.com/", ["com", "evil.com", "shop.com"]),
            ("https://evil.co.uk/", "https://shop.co.uk/", ["co.uk", "uk", "evil.co.uk"]),
            ("https://evil.github.io/", "https://shop.github.io/", ["github.io", "evil.github.io"]),
            ("http://evil.com/", "http://shop.com/", ["com", "evil.com"]),
            ("http://shop.com/", "https://shop.com/", ["com", "shop.com"]),
            ("https://evil.com:8443/", "https://shop.com:8443/", ["com", "evil.com"]),
            ("http://127.0.0.2:8000/", "http://127.0.0.1:8000/", ["0.1", "127.0.0.2"]),
            ("https://xn--evl-qma.com/", "https://xn--bcher-kva.com/", ["com", "xn--evl-qma.com"]),
        ]
    )
    func planted(evil: String, shop: String, domains: [String]) async throws {
        let fixture = try await gateway()
        try await fixture.browse { page in
            try await open(evil, on: page, of: fixture)
            let own = try #require(await page.evaluate("location.hostname").string)
            let labels = own.split(separator: ".")
            // Every domain above the page, as the gateway's names and as those of the origins.
            let above = labels.indices.map { labels[$0...].joined(separator: ".") }
            let names = domains.flatMap { [$0 + ".localhost", $0.replacing(".", with: "-") + ".localhost"] }
            for domain in above + names {
                try await page.evaluate("document.cookie = 't=\(domain); Domain=\(domain)'")
            }
            for domain in domains {
                try await open("\(evil)set?s=1;%20Domain=\(domain)", on: page, of: fixture)
            }
            try await open(shop, on: page, of: fixture)
            #expect(try await page.evaluate("document.cookie") == "")
            #expect(web.requests.last?.value(forHTTPHeaderField: "Cookie") == nil)
        }
    }

    @Test(
        "are not one for the requests of a page, if hosts have nothing in common but a public suffix",
        arguments: [
            ("https://evil.com/", "https://shop.com/"), ("https://evil.github.io/", "https://shop.github.io/"),
            ("http://evil.com/", "http://shop.com/"), ("http://shop.com/", "https://shop.com/"),
        ]
    )
    func crossSite(evil: String, shop: String) async throws {
        let fixture = try await gateway()
        try await fixture.browse { page in
            for cookie in ["strict=1;%20SameSite=Strict", "lax=1;%20SameSite=Lax", "default=1"] {
                try await open("\(shop)set?\(cookie)", on: page, of: fixture)
            }
            try await open(evil, on: page, of: fixture)
            let request = try await post(to: shop + "buy", on: page, of: fixture)
            #expect(request.value(forHTTPHeaderField: "Sec-Fetch-Site") == "cross-site")
            // Chromium still sends cookies without `SameSite` with a POST for two minutes after they were set.
            #expect(request.value(forHTTPHeaderField: "Cookie") ?? "default=1" == "default=1")
            #expect(request.value(forHTTPHeaderField: "Origin").map { $0 + "/" } == evil)
        }
    }

    @Test(
        "are one for two hosts of a registrable domain",
        arguments: [
            ("https://a.shop.com", "https://b.shop.com", "shop.com"),
            ("https://shop.co.uk", "https://b.shop.co.uk", "shop.co.uk"),
            ("https://a.me.github.io", "https://b.me.github.io", "me.github.io"),
            ("http://a.shop.com:8000", "http://b.shop.com:8000", "shop.com"),
            ("https://a.xn--bcher-kva.com", "https://b.xn--bcher-kva.com", "xn--bcher-kva.com"),
        ]
    )
    func sameSite(first: String, second: String, domain: String) async throws {
        let fixture = try await gateway()
        try await fixture.browse { page in
            try await open("\(first)/set?own=1;%20SameSite=Strict", on: page, of: fixture)
            try await open("\(first)/set?shared=1;%20Domain=\(domain);%20SameSite=Strict", on: page, of: fixture)
            try await open("\(second)/set?b=1;%20SameSite=Strict", on: page, of: fixture)
            #expect(Set(try await page.evaluate("document.cookie.split('; ')").elements) == ["shared=1", "b=1"])
            // The page may set a cookie for its registrable domain, too.
            let label = try #require(await page.evaluate("location.hostname.split('.').slice(1).join('.')").string)
            let site = second.contains("://b.") ? label : try #require(await page.evaluate("location.hostname").string)
            try await page.evaluate("document.cookie = 'page=1; Domain=\(site)'")
            let request = try await post(to: first + "/buy", on: page, of: fixture)
            #expect(request.value(forHTTPHeaderField: "Sec-Fetch-Site") == "same-site")
            let sent = Set(request.value(forHTTPHeaderField: "Cookie")?.components(separatedBy: "; ") ?? [])
            #expect(sent == ["own=1", "shared=1", "page=1"])
        }
    }

    @Test("are secure contexts, whatever the form of their name")
    func secure() async throws {
        let fixture = try await gateway()
        try await fixture.browse { page in
            for url in ["https://a.my-shop.co.uk/", "http://127.0.0.1:8000/", "https://xn--bcher-kva.example/"] {
                try await open(url, on: page, of: fixture)
                #expect(try await page.evaluate("[isSecureContext, 'serviceWorker' in navigator]") == [true, true])
            }
        }
    }

    @Test("keep a page of another host from planting a cookie beside one of the app")
    func plantedBesideApp() async throws {
        let store = CookieStore()
        try store.insert(
            Cookie(name: "session", value: "app", domain: "shop.com", isHostOnly: true, creation: Date())
        )
        let fixture = try await gateway(cookies: store)
        try await fixture.browse { page in
            try await open("https://shop.com/", on: page, of: fixture)
            try await open("https://evil.com/", on: page, of: fixture)
            for domain in ["com.localhost", "shop-com.localhost", "localhost"] {
                try await page.evaluate("document.cookie = 'session=evil; Domain=\(domain)'")
            }
            try await open("https://shop.com/", on: page, of: fixture)
            #expect(web.requests.last?.value(forHTTPHeaderField: "Cookie") == "session=app")
            // A page of the same site may set such a cookie; it does not take the place of the app's.
            try await open("https://user.shop.com/", on: page, of: fixture)
            try await page.evaluate("document.cookie = 'session=evil; Domain=shop-com.localhost'")
            try await open("https://shop.com/", on: page, of: fixture)
            #expect(try await page.evaluate("document.cookie").string?.contains("session=evil") == true)
            try await open("https://shop.com/", on: page, of: fixture)
            #expect(web.requests.last?.value(forHTTPHeaderField: "Cookie") == "session=app")
            #expect(store.cookies.filter { $0.domain == "shop.com" }.map(\.pair) == ["session=app"])
        }
    }
}
#endif
