import Testing
import WaystationHTTP

@testable import SiteTools

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
            ("http://example.org/?a[0]={1}|^`\\'&%41%4", "http://example.org/?a%5B0%5D=%7B1%7D%7C%5E%60%5C%27&%41%254"),
            ("http://example.org/?%", "http://example.org/?%25"),
            ("http://example.org/?%2g%%20", "http://example.org/?%252g%25%20"),
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
