import Foundation
import FoundationNetworking
import Testing
import WaystationRules

@testable import Crawler

@Suite("Canonical URLs")
struct CanonicalURLTests {
    @Test(
        "every resource has one spelling",
        arguments: [
            ("HTTP://Example.ORG", "http://example.org/"), ("http://example.org:80/a", "http://example.org/a"),
            ("https://example.org:443/", "https://example.org/"),
            ("http://example.org:8080/", "http://example.org:8080/"),
            ("http://example.org/a/../b/./c", "http://example.org/b/c"),
            ("http://example.org/%2e%2E/a", "http://example.org/a"),
            ("http://example.org/%7euser/%c3%a9", "http://example.org/~user/%C3%A9"),
            ("http://example.org/é x", "http://example.org/%C3%A9%20x"),
            ("http://example.org/a%2Fb", "http://example.org/a%2Fb"),
            ("http://example.org/?b=2&a=1#f", "http://example.org/?b=2&a=1"),
            ("http://u:p@example.org/", "http://example.org/"),
            ("http://example.org/100%", "http://example.org/100%25"), ("http://example.org?x", "http://example.org/?x"),
            ("http://example.org./", "http://example.org/"), ("http://[::1]:80/", "http://[::1]/"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://example.org/a//b", "http://example.org/a//b"),
            ("http://example.org/a?", "http://example.org/a?"), ("http:\\\\example.org\\a", "http://example.org/a"),
        ]
    )
    func canonical(text: String, expected: String) {
        #expect(CanonicalURL(page: text)?.string == expected)
    }

    @Test(
        "no URLs",
        arguments: ["", "example.org", "ftp://a/", "http://", "http://a b/", "http://a:99999/", "http:///"]
    )
    func refused(text: String) {
        #expect(CanonicalURL(page: text) == nil)
    }

    /// The examples of RFC 3986, section 5.4, that use http(s).
    @Test(
        "references",
        arguments: [
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"),
            ("#s", "/b/c/d;p?q"), ("", "/b/c/d;p?q"), (";x", "/b/c/;x"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"),
            ("../g", "/b/g"), ("../..", "/"), ("../../../g", "/g"), ("/./g", "/g"), ("g.", "/b/c/g."),
            ("..g", "/b/c/..g"),
            ("./g/.", "/b/c/g/"), ("g;x=1/../y", "/b/c/y"), ("g?y/../x", "/b/c/g?y/../x"), (" g\n", "/b/c/g"),
            ("g\th", "/b/c/gh"), ("http:g", "/b/c/g"), ("a:b/../c", nil),
        ] as [(String, String?)]
    )
    func references(reference: String, expected: String?) throws {
        let base = try #require(CanonicalURL(page: "http://a/b/c/d;p?q"))
        #expect(CanonicalURL(reference, relativeTo: base)?.string == expected.map { "http://a" + $0 })
    }

    @Test("a reference may name another host")
    func otherHost() throws {
        let base = try #require(CanonicalURL(page: "https://a/b"))
        #expect(CanonicalURL("//c:8/d", relativeTo: base)?.string == "https://c:8/d")
        #expect(CanonicalURL("//c:8/d", relativeTo: base)?.host == "c")
    }
}

@Suite("Scope")
struct ScopeTests {
    private func scope(_ breadth: Scope.Breadth, _ change: (inout CrawlSettings) -> Void = { _ in }) -> Scope {
        var settings = CrawlSettings()
        settings.startURLs = ["http://www.example.org:8080/docs/start.html"]
        settings.scope = breadth
        change(&settings)
        return Scope(settings)
    }

    private func verdict(
        _ scope: Scope,
        _ url: String,
        _ kind: LinkKind = .page,
        depth: Int = 0,
        isInside: Bool = true,
        isStylesheet: Bool = false
    ) throws -> Scope.Verdict {
        let link = FoundLink(url: try #require(CanonicalURL(page: url)), kind: kind)
        return scope.verdict(on: link, from: .init(depth: depth, isInside: isInside, isStylesheet: isStylesheet))
    }

    @Test(
        "the scope decides which pages belong to the site",
        arguments: [
            (Scope.Breadth.page, "http://www.example.org:8080/docs/start.html", true),
            (.page, "http://www.example.org:8080/docs/other.html", false),
            (.prefix, "http://www.example.org:8080/docs/deep/x", true),
            (.prefix, "http://www.example.org:8080/docs", false),
            (.prefix, "http://www.example.org:8080/other/", false), (.host, "http://www.example.org:8080/other/", true),
            (.host, "http://www.example.org/other/", false), (.host, "http://www.example.org:80801/", false),
            (.host, "http://other.example.org:8080/", false), (.domain, "https://docs.example.org/", true),
            (.domain, "http://example.org/", true), (.domain, "http://notexample.org/", false),
        ]
    )
    func breadth(breadth: Scope.Breadth, url: String, isInside: Bool) throws {
        guard let url = CanonicalURL(page: url) else { return #expect(!isInside) }
        #expect(scope(breadth).contains(url) == isInside)
    }

    @Test("requisites are loaded from any host, but only for pages of the site")
    func requisites() throws {
        let site = scope(.host)
        #expect(try verdict(site, "https://cdn.example/x.css", .stylesheet) == .load)
        #expect(try verdict(site, "https://cdn.example/x.css", .page) == .outside)
        #expect(try verdict(site, "https://cdn.example/x.woff", .style, isInside: false, isStylesheet: true) == .load)
        #expect(try verdict(site, "https://cdn.example/x.png", .image, isInside: false) == .outside)
        #expect(try verdict(site, "http://www.example.org:8080/", .page, isInside: false) == .outside)
    }

    @Test("depth counts links, not requisites")
    func depth() throws {
        let site = scope(.host) { $0.depth = 1 }
        #expect(try verdict(site, "http://www.example.org:8080/a", depth: 0) == .load)
        #expect(try verdict(site, "http://www.example.org:8080/a", depth: 1) == .tooDeep)
        #expect(try verdict(site, "http://www.example.org:8080/a.png", .image, depth: 1) == .load)
    }

    @Test("exclude overrides everything but a start page; include applies to pages")
    func globs() throws {
        let site = scope(.host) {
            $0.include = [Glob("*/docs/*")]
            $0.exclude = [Glob("*secret*"), Glob("*.zip")]
        }
        #expect(try verdict(site, "http://www.example.org:8080/docs/a") == .load)
        #expect(try verdict(site, "http://www.example.org:8080/docs/secret") == .excluded)
        #expect(try verdict(site, "http://www.example.org:8080/blog") == .excluded)
        #expect(try verdict(site, "http://www.example.org:8080/a.png", .image) == .load)
        #expect(try verdict(site, "http://www.example.org:8080/a.zip", .asset) == .excluded)
    }

    @Test(
        "globs",
        arguments: [
            ("*", "anything", true), ("a*c", "abc", true), ("a*c", "abd", false), ("a?c", "a?c", true),
            ("a?c", "abc", false),
            ("*a*b*", "xaxbx", true), ("a", "ab", false), ("**a", "a", true), ("", "", true), ("", "a", false),
        ]
    )
    func glob(pattern: String, text: String, matches: Bool) {
        #expect(Glob(pattern).matches(text) == matches)
    }
}

@Suite("Retries")
struct RetryTests {
    private static let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test(
        "Retry-After is read in seconds and in the three forms of a date",
        arguments: [
            ("0", 0), ("120", 120), (" 7 ", 7), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
            ("soon", nil), ("-5", nil), ("", nil), ("1.5", nil), ("Sun, 06 Foo 1994 08:50:37 GMT", nil),
        ] as [(String, Int?)]
    )
    func retryAfter(field: String, seconds: Int?) {
        #expect(RetryAfter.delay(field, now: Self.now) == seconds.map { .seconds($0) })
    }

    @Test("a Retry-After pauses its host, and one that is too long ends the attempts")
    func servers() {
        let policy = RetryPolicy()
        func decision(_ status: Int, _ field: String?, attempt: Int = 1) -> RetryPolicy.Decision {
            policy.decision(status: status, retryAfter: field, attempt: attempt, now: Self.now, jitter: 0.5)
        }
        #expect(decision(429, "3") == .retry(after: .seconds(3), pausesHost: true))
        #expect(decision(503, "3") == .retry(after: .seconds(3), pausesHost: true))
        #expect(decision(503, "99999") == .giveUp)
        #expect(decision(500, "3") == .retry(after: .milliseconds(500), pausesHost: false))
        #expect(decision(429, nil, attempt: 3) == .retry(after: .seconds(2), pausesHost: false))
        #expect(decision(429, "3", attempt: 5) == .giveUp)
        #expect(decision(404, nil) == .giveUp)
        #expect(decision(501, nil) == .giveUp)
    }

    @Test("lost connections are tried again, permanent errors are not")
    func errors() {
        let policy = RetryPolicy(retries: 2)
        #expect(
            policy.decision(error: .timedOut, attempt: 2, jitter: 0.5) == .retry(after: .seconds(1), pausesHost: false)
        )
        #expect(policy.decision(error: .timedOut, attempt: 3) == .giveUp)
        #expect(policy.decision(error: .unsupportedURL, attempt: 1) == .giveUp)
    }
}

@Suite("Headers")
struct HeaderTests {
    @Test(
        "Cache-Status is read for a hit (RFC 9211)",
        arguments: [
            ("Waystation; hit", true), ("Waystation;fwd=uri-miss; stored", false), ("A; fwd=miss, B; hit; ttl=3", true),
            (nil, false), ("hit", false),
        ] as [(String?, Bool)]
    )
    func cacheStatus(field: String?, isHit: Bool) {
        #expect(CacheStatus.isHit(field) == isHit)
    }

    @Test("Content-Type")
    func contentType() {
        let type = ContentType(field: "Text/HTML ; Charset=\"ISO-8859-1\"; x=y")
        #expect(type.mimeType == "text/html")
        #expect(type.charset == "iso-8859-1")
        #expect(ContentType(field: nil).mimeType.isEmpty)
    }
}
