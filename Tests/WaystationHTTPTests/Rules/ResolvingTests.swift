import Testing
import WaystationHTTP

@Suite("Resolving a reference")
struct ResolvingTests {
    /// RFC 3986 §5.4.1 and §5.4.2, without fragments and with `/` for an empty path; `nil` is not an absolute URL here.
    @Test(
        "gives the results that RFC 3986 §5.4 lists",
        arguments: [
            ("g:h", nil), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
            ("../../", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g"),
            ("g#s/../x", "http://a/b/c/g"), ("http:g", nil),
            // References beyond the RFC's list.
            ("HTTPS://Other:443/x", "https://other/x"), ("//u@h:81/x", "http://u@h:81/x"),
            ("./g:h", "http://a/b/c/g:h"),
            ("%2e%2e/g", "http://a/b/g"), ("/\\evil.example", "http://a/%5Cevil.example"),
            ("\\\\evil.example", "http://a/b/c/%5C%5Cevil.example"),
            ("mailto:a@b", nil), ("javascript:alert(1)", nil), ("g\n", nil), ("#\n", nil), ("//", nil),
            ("é", "http://a/b/c/%C3%A9"),
        ] as [(String, String?)]
    )
    func resolves(reference: String, expected: String?) throws {
        let base = try #require(CanonicalURL("http://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.string == expected)
    }

    @Test func `keeps the user information of the base for the same authority only`() throws {
        let base = try #require(CanonicalURL("http://u:p@a:81/b/c"))
        #expect(base.resolving("d")?.string == "http://u:p@a:81/b/d")
        #expect(base.resolving("/d")?.string == "http://u:p@a:81/d")
        #expect(base.resolving("//a/d")?.string == "http://a/d")
    }
}
