import Testing
import WaystationHTTP

@Suite("A URL pattern")
struct URLPatternTests {
    @Test(
        "matches",
        arguments: [
            (
                "https://shop.example/app/**",
                [
                    "https://shop.example/app", "https://shop.example/app/", "https://SHOP.example:443/app/a/b?x#y",
                    "https://u@shop.example/x/../app/%61",
                ]
            ),
            (
                "*://*.example.com:8080/img/*.png",
                ["http://a.example.com:8080/img/x.png", "https://a.b.example.com:8080/img/.png"]
            ),
            (
                "**.example.com".withScheme,
                ["https://example.com/", "https://a.example.com/", "https://a.b.example.com/"]
            ),
            ("https://*/x", ["https://a/x", "https://[::1]/x", "https://1.2.3.4/x"]),
            ("*://h:443/", ["https://h/", "http://h:443/"]), ("*://h/", ["https://h/", "http://h/"]),
            ("http://h:80/", ["http://h/"]),
            ("http://h:*/", ["http://h/", "http://h:1/"]), ("http://[0:0::1]:81/", ["http://[::1]:81/"]),
            ("http://0x7f.1/", ["http://127.0.0.1/"]),
            ("https://bücher.example/ü", ["https://xn--bcher-kva.example/%c3%bc"]),
            ("https://*.bücher.example/", ["https://a.BÜCHER.example/"]),
            ("https://h", ["https://h/", "https://h?x"]), ("https://h/%7Ea/./b/../c%2fd", ["https://h/~a/c%2Fd"]),
            ("https://h/**/c", ["https://h/c", "https://h/a/b/c", "https://h/c/c"]),
            ("https://h/a/**/b/**/c", ["https://h/a/b/c", "https://h/a/b/x/b/y/c/c"]),
            ("https://h/**/**", ["https://h/", "https://h/a"]), ("https://h/**/", ["https://h/", "https://h/a/"]),
            ("https://h/*/x", ["https://h/a/x", "https://h//x"]),
            ("https://h/a*b*c", ["https://h/abc", "https://h/axbxbxc"]),
            ("https://h/**/x*/y", ["https://h/x/x1/y", "https://h/x1/z/x2/y"]),
            (
                "https://h/?a=1&b=*&c",
                ["https://h/?c&b&a=1", "https://h/?x=y&c=3&b=2&a=2&a=1", "https://h/?%61=%31&b=&c"]
            ), ("https://h/?a=", ["https://h/?a", "https://h/?a="]),
            ("https://h/?a=b=c", ["https://h/?a=b=c"]), ("https://h?x", ["https://h/?x"]),
            ("app://*/**", ["app://m/x", "app:///x"]), ("app:///x", ["app:///x"]),
            ("https://h/@a/**", ["https://h/@a/x", "https://h/%40a/x", "https://h/%40a"]),
            ("https://h/%40a/*%2bb", ["https://h/@a/x+b", "https://h/%40a/x%2Bb"]),
            ("https://h/**/a;v=1,*", ["https://h/a%3bv%3D1%2C", "https://h/x/a;v=1,(2)"]),
            ("https://h/%2A", ["https://h/*", "https://h/%2a"]),
            ("http://[::1]/@a/", ["http://[::1]/%40a/", "http://u%40@[::1]/b/../%40a/?x=%40#y"]),
            ("https://h/a%2A*b", ["https://h/a*b", "https://h/a%2Axb", "https://h/a*%2Ab"]),
        ]
    )
    func takes(text: String, urls: [String]) throws {
        let pattern = try URLPattern(text)
        for url in urls { #expect(try pattern.matches(#require(CanonicalURL(url))), "\(url)") }
    }

    @Test(
        "does not match",
        arguments: [
            (
                "https://shop.example/app/**",
                [
                    "http://shop.example/app/", "https://shop.example/application", "https://shop.example/App/",
                    "https://shop.example:8443/app/", "https://shop.example/app%2Fx", "https://shop.example/app/../x",
                    "https://shop.example/app/%2e%2e/x", "https://shop.example.evil/app/", "https://shop.example./app/",
                ]
            ),
            (
                "https://*.example.com/",
                ["https://example.com/", "https://badexample.com/", "https://a.example.com.evil/"]
            ), ("**.example.com".withScheme, ["https://badexample.com/", "https://com/"]),
            (
                "https://h/img/*.png",
                ["https://h/img/a/b.png", "https://h/img/a.png/", "https://h/img/a.png2", "https://h/img/%2Epn"]
            ),
            ("https://h/*", ["https://h/a/b"]), ("https://h", ["https://h/a"]), ("https://h/**/", ["https://h/a"]),
            ("*://h/", ["app://h/"]), ("http://h:81/", ["http://h/"]),
            ("https://h/a/**/b/**/c", ["https://h/a/c", "https://h/a/b", "https://h/b/c"]),
            ("https://h/a*b*c", ["https://h/acb", "https://h/abcd"]),
            (
                "https://h/?a=1",
                [
                    "https://h/", "https://h/?", "https://h/?a=2", "https://h/?A=1", "https://h/?aa=1",
                    "https://h/?a=11", "https://h/?a", "https://h/?x=a=1",
                ]
            ),
            ("https://h/?a=b+c", ["https://h/?a=b%20c"]),
            ("https://h/%2A", ["https://h/a", "https://h/", "https://h/%252A"]),
            ("https://h/a%2A*b", ["https://h/axb", "https://h/a%2Ac"]), ("https://h/@a", ["https://h/%2540a"]),
            ("https://h/a/b", ["https://h/a%2Fb"]), ("https://h/*0a", ["https://h/x%40a"]),
        ]
    )
    func leaves(text: String, urls: [String]) throws {
        let pattern = try URLPattern(text)
        for url in urls { #expect(try !pattern.matches(#require(CanonicalURL(url))), "\(url)") }
    }

    @Test(
        "is refused with the position of the error",
        arguments: [
            ("", 0, "a scheme"), ("/app/**", 0, "a scheme"), ("1http://a/", 0, "a scheme"), ("https", 5, "`://`"),
            ("https:/h", 5, "`://`"), ("*.example.com", 1, "`://`"), ("shop.example/app", 12, "`://`"),
            ("ws://h/", 0, "left to Foundation"), ("WSS://h/", 0, "left to Foundation"),
            ("ftp://h/", 0, "left to Foundation"), ("file:///etc/passwd", 0, "left to Foundation"),
            ("http+https://h/", 0, "`*`"),
            ("https://", 8, "a host"), ("https:///x", 8, "a host"), ("https://*./", 10, "a host"),
            ("https://a.*.b/", 10, "`*` only"), ("https://*a.b/", 8, "`*` only"), ("https://***.b/", 8, "`*` only"),
            ("https://u:p@h/", 11, "without user"),
            ("https://a b/", 8, "a valid host name"), ("https://a..b/", 8, "a valid host name"),
            ("https://1.2.3.4.5/", 8, "a valid host name"),
            ("https://*.1.2.3.4/", 10, "no sub-domains"), ("https://*.[::1]/", 10, "a valid host name"),
            ("https://[::1/", 12, "`]`"), ("https://[::g]/", 8, "a valid host name"),
            ("https://[::1]x/", 13, "`:` and a port"), ("https://h:/", 10, "a port"),
            ("https://h:65536/", 10, "a port"), ("https://h:8*/", 10, "a port"), ("https://h:a/", 10, "a port"),
            ("https://h/a**", 11, "`**` alone"), ("https://h/***", 10, "`**` alone"),
            ("https://h/x/**y/z", 12, "`**` alone"), ("https://h/a/*/../b", 14, "no `..`"),
            ("https://h/**/..", 13, "no `..`"), ("https://h/*/%2e%2E", 12, "no `..`"),
            ("https://h/%zz", 10, "two hexadecimal"),
            ("https://h/#top", 10, "no fragment"), ("https://h#top", 9, "no fragment"),
            ("https://h/?a#b", 12, "no fragment"), ("https://h/?", 11, "a query item"),
            ("https://h/?a&&b", 13, "a query item"), ("https://h/?=x", 11, "a query item"),
            ("https://h/?a=b*", 14, "the whole value"), ("https://h/?a*=b", 12, "without `*`"),
            ("https://h/?a=%ff", 13, "UTF-8"),
            ("https://h/\u{0}", 10, "no control"), ("https://h/a\nb", 11, "no control"),
            ("https://ｅvil/", 8, "a valid host name"),
        ]
    )
    func refuses(text: String, offset: Int, expected: String) {
        let error = #expect(throws: URLPatternError.self) { try URLPattern(text) }
        #expect(error?.pattern == text)
        #expect(error?.offset == offset)
        #expect(error?.expected.contains(expected) == true, "\(error?.expected ?? "")")
    }

    @Test func `shows the position with a caret`() {
        let error = #expect(throws: URLPatternError.self) { try URLPattern("https:/shop.example/") }
        #expect(
            error?.description == """
                URL pattern not understood: expected `://` after the scheme, as in `https://host/path`
                  https:/shop.example/
                       ^
                """
        )
    }

    @Test func `counts characters for the caret and shows control characters escaped`() {
        let error = #expect(throws: URLPatternError.self) { try URLPattern("https://bücher.example/a**") }
        #expect(
            error?.description.hasSuffix("\n  https://bücher.example/a**\n" + String(repeating: " ", count: 26) + "^")
                == true
        )
        let hostile = #expect(throws: URLPatternError.self) { try URLPattern("https://h/\nx") }
        #expect(hostile?.description.hasSuffix("\n  https://h/\\nx\n            ^") == true)
    }

    @Test func `is refused when it is deeper than the tries may be`() throws {
        let deepest = "https://h" + String(repeating: "/*", count: 256)
        let url = try #require(CanonicalURL("https://h" + String(repeating: "/a", count: 256)))
        #expect(try URLPattern(deepest).matches(url))
        let error = #expect(throws: URLPatternError.self) { try URLPattern(deepest + "/x") }
        #expect(error?.expected == "at most 256 path segments")
        #expect(error?.offset == deepest.utf8.count + 1)
    }

    @Test func `equals another that matches the same URLs`() throws {
        #expect(try URLPattern("HTTPS://H:443/%61/../b") == URLPattern("https://h/b"))
        #expect(try Set([URLPattern("https://h/**/**"), URLPattern("https://h/**")]).count == 1)
        #expect(try URLPattern("https://h/*") != URLPattern("https://h/**"))
        #expect(try URLPattern("https://h/A").description == "https://h/A")
        #expect(try URLPattern("https://h/%40a/%2b*") == URLPattern("https://h/@a/+*"))
        #expect(try URLPattern("https://h/%2A") != URLPattern("https://h/*"))
    }

    @Test(.timeLimit(.minutes(10)))
    func `is matched without backtracking that explodes`() throws {
        let stars = try URLPattern(
            "https://h/" + String(repeating: "a*", count: 50) + "b/" + String(repeating: "**/a/", count: 50) + "b"
        )
        let url = try #require(
            CanonicalURL(
                "https://h/" + String(repeating: "a", count: 2_000) + "b" + String(repeating: "/a", count: 2_000)
            )
        )
        #expect(!stars.matches(url))
    }
}

extension String {
    /// The host pattern as a complete pattern, for tables.
    fileprivate var withScheme: String { "https://\(self)/" }
}
