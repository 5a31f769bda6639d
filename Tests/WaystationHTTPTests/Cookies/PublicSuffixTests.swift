import Foundation
import Testing

@testable import WaystationHTTP

@Suite("Public suffixes")
struct PublicSuffixTests {
    @Test("separate the domains of the public test cases as the list does", arguments: publicSuffixFacts)
    func facts(host: String, domain: String?) {
        let found = CookieHost(host).flatMap { PublicSuffixes.builtIn.registrableDomain(of: $0) }
        #expect(found == domain)
    }

    @Test(
        "are found at the edges of the list, and within every kind of line",
        arguments: [
            // The first line of the list, the last one, and the first and last rule of their lines.
            "com.ac", "org.zw", "aisai.aichi.jp", "yuza.yamagata.jp", "a.0e.vc",
            // Registries, hosts of many customers, wildcards and the parents of wildcards.
            "co.uk", "github.io", "s3.amazonaws.com", "any.ck", "c.kobe.jp", "kobe.jp",
            "xn--55qx5d.cn", "gov.uk", "k12.ca.us",
        ]
    )
    func found(domain: String) {
        #expect(PublicSuffixes.builtIn.contain(domain))
        #expect(PublicSuffixes.builtIn.contain(domain + "."))
        #expect(!PublicSuffixes.builtIn.contain("x--0." + domain) || domain == "kobe.jp")
    }

    @Test(
        "do not contain names that only resemble one",
        arguments: [
            "example.com", "co.uk.example", "ithub.io", "github.i", "github.iox", "www.ck", "city.kobe.jp",
            "amazonaws.com",
            "3.amazonaws.com", "s3.amazonaws.co", "uk.co.example", "a.example", "-.example", "..", "a..uk", "ac ad.jp",
            "ad.example ac", "\n.jp", "*.kobe.jp", "!city.kobe.jp",
        ]
    )
    func notFound(domain: String) { #expect(!PublicSuffixes.builtIn.contain(domain)) }

    @Test("lie below some domains that are none themselves")
    func below() {
        for domain in ["com", "jp", "kobe.jp", "amazonaws.com", "github.io", "example"] {
            #expect(PublicSuffixes.separates(domain), "\(domain)")
        }
        for domain in ["shop.example", "amazonaws.com.example", "mazonaws.com", "amazonaws.co", "a.github.io"] {
            #expect(!PublicSuffixes.separates(domain), "\(domain)")
        }
    }

    @Test(
        "leave each host one site",
        arguments: [
            ("a.b.shop.example", "shop.example"), ("Shop.CO.UK", "shop.co.uk"), ("me.github.io", "me.github.io"),
            ("github.io", "github.io"), ("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"), ("::1", "::1"),
        ]
    )
    func site(host: String, site: String) { #expect(PublicSuffixes.builtIn.site(of: host) == site) }

    @Test(
        "keep a host's cookies from all domains above its own",
        arguments: [
            ("https://shop.co.uk/", "co.uk"), ("https://me.github.io/", "github.io"),
            // These two are no public suffixes, but the hosts below them are of several sites.
            ("https://bucket.s3.amazonaws.com/", "amazonaws.com"), ("https://a.b.kobe.jp/", "kobe.jp"),
        ]
    )
    func cookies(page: String, domain: String) {
        var jar = CookieJar()
        let outcome = jar.store("a=1; Domain=\(domain)", from: url(page), now: epoch)
        #expect(outcome.refusal?.code == .publicSuffix)
    }

    @Test("give a host that is one a cookie for itself alone")
    func ownCookies() {
        let jar = CookieJar([("https://github.io/", "a=1; Domain=github.io")])
        #expect(jar.names(for: "https://github.io/") == ["a"])
        #expect(jar.names(for: "https://me.github.io/") == [])
    }
}
