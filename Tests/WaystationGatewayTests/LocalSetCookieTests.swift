#if Gateway
import Foundation
import Testing
import WaystationHTTP

@testable import WaystationGateway

@Suite("The Set-Cookie fields of an origin, for a browser")
struct LocalSetCookieTests {
    @Test(
        "name a domain that covers the name of the origin at the gateway",
        arguments: [
            ("https://www.shop.example", "shop.example", "shop-example.localhost"),
            ("https://www.shop.example", "www.shop.example", "www.shop-example.localhost"),
            ("http://www.shop.example", "shop.example", "shop-example-http.localhost"),
            ("https://www.shop.example:8443", "shop.example", "shop-example-8443.localhost"),
            ("http://www.shop.example:8000", "shop.example", "shop-example-8000-http.localhost"),
            ("http://127.0.0.1:8000", "127.0.0.1", "127-0-0-1-8000-http.localhost"),
            ("https://a.b.my-shop.co.uk", "my-shop.co.uk", "my--shop-co-uk.localhost"),
            ("https://a.b.my-shop.co.uk", "b.my-shop.co.uk", "b.my--shop-co-uk.localhost"),
            ("https://me.github.io", "me.github.io", "me-github-io.localhost"),
            (
                "https://a.xn--bcher-kva.example", "xn--bcher-kva.example",
                "xn--bcher-kva.example.site---970ca6b73eaf2630a6b8d6aa59f10643.localhost"
            ),
        ]
    )
    func domain(origin: String, domain: String, local: String) throws {
        let origin = try Self.origin(origin)
        #expect(LocalSetCookie.local("sid=1; Domain=\(domain)", of: origin) == "sid=1; Domain=\(local)")
        guard domain != origin.host else {
            #expect(origin.name == local)
            return
        }
        let cookie = try Cookie(name: "sid", value: "1", domain: domain, creation: Date())
        #expect(LocalSetCookie.local(cookie, of: origin) == "sid=1; Path=/; Domain=\(local)")
        #expect(LocalSetCookie.removal(of: cookie.id, of: origin) == "sid=; Path=/; Max-Age=0; Domain=\(local)")
        // RFC 6265 §5.1.3
        #expect(try #require(origin.name).hasSuffix("." + local))
    }

    @Test(
        "are left out for a domain that the origin may not set",
        arguments: [
            ("https://shop.example", "example"), ("https://shop.example", "bank.example"),
            ("https://shop.co.uk", "co.uk"), ("https://me.github.io", "github.io"), ("https://me.github.io", "io"),
            ("https://bucket.s3.amazonaws.com", "amazonaws.com"), ("https://a.b.kobe.jp", "kobe.jp"),
            ("https://shop.example", "www.shop.example"), ("http://127.0.0.1:8000", "0.0.1"),
        ]
    )
    func refused(origin: String, domain: String) throws {
        #expect(LocalSetCookie.local("sid=1; Domain=\(domain)", of: try Self.origin(origin)) == nil)
    }

    @Test(
        "have Secure only where browsers refuse the cookie without it",
        arguments: [
            ("a=1; Secure", "a=1"), ("a=1; Secure; Partitioned", "a=1; Secure; Partitioned"),
            ("a=1;partitioned ;secure", "a=1;partitioned ;secure"),
            ("a=1; Secure; SameSite=None", "a=1; Secure; SameSite=None"), ("__Host-a=1; Secure", "__Host-a=1; Secure"),
        ]
    )
    func secure(field: String, local: String) throws {
        #expect(LocalSetCookie.local(field, of: try Self.origin("https://shop.example")) == local)
    }

    private static func origin(_ url: String) throws -> OriginName {
        let url = try #require(URL(string: url))
        return try #require(
            OriginName(scheme: url.scheme ?? "", host: url.host(percentEncoded: false) ?? "", port: url.port)
        )
    }
}
#endif
