#if Gateway
import Foundation
import Testing

@testable import WaystationGateway

@Suite("The name of an origin at a gateway")
struct OriginNameTests {
    @Test(
        "stands for one origin, and is found from it",
        arguments: [
            ("https://shop.example", "shop-example.localhost"),
            ("https://a.b.shop.example", "a.b.shop-example.localhost"),
            ("https://www.my-shop.co.uk", "www.my--shop-co-uk.localhost"),
            ("https://shop.example:8443", "shop-example-8443.localhost"),
            ("https://8443.shop.example", "8443.shop-example.localhost"),
            ("https://8443.example", "8443-example.localhost"),
            ("http://shop.example", "shop-example-http.localhost"),
            ("http://a.shop.example:8080", "a.shop-example-8080-http.localhost"),
            ("https://http.example", "http-example.localhost"),
            ("https://intranet", "intranet.localhost"), ("https://my-intranet", "my--intranet.localhost"),
            ("https://a.intranet", "a-intranet.localhost"), ("https://b.a.intranet", "b.a-intranet.localhost"),
            ("http://127.0.0.1:8000", "127-0-0-1-8000-http.localhost"),
            ("https://127.0.0.1", "127-0-0-1.localhost"),
            ("https://http", "http.localhost"), ("http://http", "http-http.localhost"),
            ("http://shop.http", "shop-http-http.localhost"),
            ("http://localhost:3000", "localhost-3000-http.localhost"),
            // Public suffixes, and hosts below them.
            ("https://github.io", "github-io.localhost"), ("https://me.github.io", "me-github-io.localhost"),
            ("https://a.me.github.io", "a.me-github-io.localhost"), ("https://b.c.kobe.jp", "b-c-kobe-jp.localhost"),
            ("https://a.city.kobe.jp", "a.city-kobe-jp.localhost"), ("https://co.uk", "co-uk.localhost"),
            ("https://_dmarc.shop.example", "_dmarc.shop-example.localhost"),
            ("https://a--b.example", "a----b-example.localhost"),
            // They begin like a digest.
            ("https://site--x.example", "site----x-example.localhost"),
            ("https://site-.x.example", "site-.x-example.localhost"),
            // Hyphens at the ends of labels in front of the site.
            ("https://-a-.shop.example", "-a-.shop-example.localhost"),
        ]
    )
    func both(origin: String, name: String) throws {
        let names = LocalNames(port: 8080)
        #expect(names.local(origin + "/a?b#c") == "http://\(name):8080/a?b#c")
        #expect(names.remote("http://\(name):8080/a?b#c") == origin + "/a?b#c")
    }

    @Test(
        "has all labels and a digest if the site does not fit into one label",
        arguments: [
            "https://xn--bcher-kva.example", "https://a.xn--bcher-kva.example:8443", "http://xn--bcher-kva.example",
            "https://a-.example", "https://-a.example", "https://xn-a.example",
            "https://a.\(String(repeating: "x", count: 60)).example",
            "http://\(String(repeating: "-", count: 9))a.example",
            "https://\(String(repeating: "x", count: 56)).example:12345",
        ]
    )
    func digest(origin: String) throws {
        let names = LocalNames(port: 8080)
        let local = try #require(names.local(origin + "/a"))
        #expect(names.remote(local) == origin + "/a")
        let labels = try #require(URL(string: local)?.host()).split(separator: ".")
        let remote = try #require(URL(string: origin))
        #expect(labels.joined(separator: ".").hasPrefix(try #require(remote.host()) + "."))
        let site = try #require(labels.dropLast().last)
        #expect(site.hasPrefix("site---") && site.count == 39)
        // The last digit is another one.
        let wrong = site.dropLast() + (site.last == "0" ? "1" : "0")
        #expect(names.remote(local.replacing(site, with: wrong)) == nil)
        let below = names.remote(local.replacing("http://", with: "http://b."))
        #expect(below == origin.replacing("://", with: "://b.") + "/a")
    }

    @Test("is of one site with another if their origins are, by scheme and port")
    func sites() throws {
        func site(_ origin: String) throws -> Substring {
            let name = try #require(LocalNames(port: 80).local(origin)).dropFirst("http://".count)
            return try #require(name.split(separator: ".").suffix(2).first)
        }
        let equal = [
            ("https://a.shop.example", "https://b.c.shop.example"), ("https://shop.co.uk", "https://a.shop.co.uk"),
            ("https://xn--bcher-kva.example", "https://a.xn--bcher-kva.example"),
        ]
        for (first, second) in equal { #expect(try site(first) == site(second)) }
        let different = [
            ("https://shop.com", "https://evil.com"), ("https://a.co.uk", "https://b.co.uk"),
            ("https://a.github.io", "https://b.github.io"), ("https://github.io", "https://a.github.io"),
            ("https://shop.com", "http://shop.com"), ("http://shop.com", "http://evil.com"),
            ("https://shop.com:8443", "https://evil.com:8443"), ("http://10.0.0.1", "http://10.0.0.2"),
            ("https://a-b.example", "https://a.b.example"), ("https://b.s3.amazonaws.com", "https://amazonaws.com"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kvb.example"),
            ("http://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ]
        for (first, second) in different { #expect(try site(first) != site(second), "\(first) \(second)") }
    }

    @Test(
        "is not made for texts that are not an origin with a name",
        arguments: [
            "https://[::1]/", "ftp://shop.example/", "mailto:a@b.example", "/path", "https://", "https://a b/",
            "https://a:99999/", "https://127.1/", "https://shop.http/", "https://shop.8443/",
            "https://\((0..<19).map { _ in "aaaaaaaaaa" }.joined(separator: ".")).xn--bcher-kva.example/",
        ]
    )
    func none(url: String) {
        #expect(LocalNames(port: 8080).local(url) == nil)
    }

    @Test(
        "is refused when it stands for no origin, or has another port",
        arguments: [
            "localhost:8080", ".localhost:8080", "shop.example:8080", "127.0.0.1:8080", "shop-example.localhost",
            "shop-example.localhost:8081", "shop-example.localhost.:8080", "shop-example.localhost:8080:8080",
            "a..shop-example.localhost:8080", "shop-example-443.localhost:8080", "shop-example-0.localhost:8080",
            "shop-example-99999.localhost:8080", "shop-example-080.localhost:8080", "a/b.localhost:8080",
            "shop-example.localhost.evil.example:8080", "user@shop-example.localhost:8080", "[::1]:8080", "",
            // Other spellings of a name.
            "shop.example.localhost:8080", "a-shop-example.localhost:8080", "a.me.github-io.localhost:8080",
            "shop---example.localhost:8080", "-example.localhost:8080", "example-.localhost:8080",
            "shop.example.site---.localhost:8080", "site---970ca6b73eaf2630a6b8d6aa59f10643.localhost:8080",
            "xn----bcher--kva-example.localhost:8080", "shop-example-80-http.localhost:8080",
            "127.0-0-1.localhost:8080",
        ]
    )
    func refused(authority: String) {
        #expect(LocalNames(port: 8080).origin(ofAuthority: authority) == nil)
    }

    @Test(
        "is said to a client that writes the labels of the site apart",
        arguments: [
            ("shop.example.localhost:8080", "http://shop-example.localhost:8080/"),
            ("a.shop.example.8443.http.localhost", "http://a.shop-example-8443-http.localhost:8080/"),
            ("xn--bcher-kva.example.localhost", nil), ("shop.example", nil), ("localhost", nil), ("..localhost", nil),
        ]
    )
    func meant(authority: String, url: String?) {
        let found = LocalNames(port: 8080).url(meantBy: authority)
        if authority.hasPrefix("xn--") {
            #expect(found?.contains(".site---") == true)
        } else {
            #expect(found == url)
        }
    }

    @Test("has no port if the gateway has port 80")
    func port80() {
        #expect(LocalNames(port: 80).local("https://shop.example/") == "http://shop-example.localhost/")
        #expect(LocalNames(port: 80).remote("http://shop-example.localhost/") == "https://shop.example/")
    }

    @Test("is compared without regard to case")
    func capitals() {
        #expect(LocalNames(port: 1).remote("HTTP://Shop-Example.LOCALHOST:1/A") == "https://shop.example/A")
        #expect(LocalNames(port: 1).local("https://Shop.Example/A") == "http://shop-example.localhost:1/A")
    }
}
#endif
