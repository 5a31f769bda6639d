import Testing
import WaystationHTTP

@Suite("A canonical URL")
struct CanonicalURLTests {
    @Test(
        "has one spelling (RFC 3986 §6.2)",
        arguments: [
            // Scheme, host, port.
            ("HTTP://EXAMPLE.com/", "http://example.com/"),
            ("https://example.com", "https://example.com/"),
            ("https://example.com?q", "https://example.com/?q"),
            ("http://a:80/", "http://a/"), ("https://a:443/", "https://a/"), ("http://a:443/", "http://a:443/"),
            ("wss://a:443/", "wss://a/"), ("ftp://a:21/", "ftp://a/"), ("app://a:80/", "app://a:80/"),
            ("http://a:/", "http://a/"), ("http://a:0080/", "http://a/"), ("http://a:08080/", "http://a:8080/"),
            ("http://a:0/", "http://a:0/"), ("http://a:65535/", "http://a:65535/"),
            ("http://ex%61mple.com/", "http://example.com/"), ("http://a_b-c.d/", "http://a_b-c.d/"),
            ("http://example.com./", "http://example.com./"),
            // Addresses and hostile spellings of them.
            ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"), ("http://127.1/", "http://127.0.0.1/"),
            ("http://0x7f.1/", "http://127.0.0.1/"), ("http://2130706433/", "http://127.0.0.1/"),
            ("http://017700000001/", "http://127.0.0.1/"), ("http://127.0.0.01/", "http://127.0.0.1/"),
            ("http://0x7F000001/", "http://127.0.0.1/"), ("http://127.0.0.1./", "http://127.0.0.1/"),
            ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"), ("app://1/x", "app://1/x"),
            ("http://[::1]/", "http://[::1]/"), ("http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/"),
            ("http://[2001:DB8::0:1]:81/", "http://[2001:db8::1]:81/"),
            ("http://[2001:db8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/"),
            ("http://[::ffff:192.0.2.1]/", "http://[::ffff:c000:201]/"),
            ("http://[1:0:3:4:5:6:7:8]/", "http://[1:0:3:4:5:6:7:8]/"),
            ("http://[1::]/", "http://[1::]/"), ("http://[::]/", "http://[::]/"),
            // Names in other scripts (the third and later from RFC 3492 §7.1).
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
            ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
            ("http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example/"),
            ("http://faß.example/", "http://xn--fa-hia.example/"), ("http://例え.jp/", "http://xn--r8jz45g.jp/"),
            ("http://a。b/", "http://a.b/"), ("http://ليهمابتكلموشعربي؟.x/", nil),
            ("http://他们为什么不说中文.x/", "http://xn--ihqwcrb4cv8a8dqg056pqjye.x/"),
            ("http://3年b組金八先生.x/", "http://xn--3b-ww4c5e180e575a65lsy2b.x/"),
            ("http://почемужеонинеговорятпорусски.x/", "http://xn--b1abfaaepdrnnbgefbadotcwatmq2g4l.x/"),
            // Dot segments (§5.2.4), in every spelling.
            ("http://a/b/../c", "http://a/c"), ("http://a/b/./c/.", "http://a/b/c/"),
            ("http://a/b/c/..", "http://a/b/"),
            ("http://a/../../x", "http://a/x"), ("http://a/..", "http://a/"), ("http://a/%2e%2E/x", "http://a/x"),
            ("http://a/b/.%2e/c", "http://a/c"), ("http://a/b/%2e/c", "http://a/b/c"),
            ("http://a/.../x", "http://a/.../x"),
            ("http://a/..x/.y", "http://a/..x/.y"), ("http://a/b//../c", "http://a/b/c"),
            ("http://a//b", "http://a//b"),
            ("http://a/..;/b", "http://a/..;/b"), ("http://a/..%2Fb", "http://a/..%2Fb"),
            // Percent-encodings (§6.2.2.1, §6.2.2.2).
            ("http://a/%7euser", "http://a/~user"), ("http://a/%41%5a%30%2D", "http://a/AZ0-"),
            ("http://a/%2f", "http://a/%2F"),
            ("http://a/%c3%a9", "http://a/%C3%A9"), ("http://a/é", "http://a/%C3%A9"),
            ("http://a/b c", "http://a/b%20c"),
            ("http://a/%", "http://a/%25"), ("http://a/%zz", "http://a/%25zz"), ("http://a/%4", "http://a/%254"),
            ("http://a/%%34%31", "http://a/%2541"), ("http://a/%252e%252e/x", "http://a/%252e%252e/x"),
            ("http://a/%00", "http://a/%00"), ("http://a/b\\c", "http://a/b%5Cc"),
            ("http://a/\"<>^`{|}[]", "http://a/%22%3C%3E%5E%60%7B%7C%7D%5B%5D"),
            ("http://a/*!$&'()+,;=:@", "http://a/*!$&'()+,;=:@"), ("http://a/%2a", "http://a/%2A"),
            // The query stays, the fragment is removed.
            ("http://a/?b=2&a=1&b=%7e%c3", "http://a/?b=2&a=1&b=%7e%c3"), ("http://a/?", "http://a/?"),
            ("http://a/?a/../b?c", "http://a/?a/../b?c"),
            ("http://a/?%zz[]\\|^`{}'", "http://a/?%zz[]\\|^`{}'"),
            ("http://a/?a b\"<é>", "http://a/?a%20b%22%3C%C3%A9%3E"),
            ("http://a/#", "http://a/"), ("http://a/x?q#f?g", "http://a/x?q"), ("http://a#f/../x", "http://a/"),
            // User information.
            ("http://User:Pass@A/", "http://User:Pass@a/"), ("http://@a/", "http://a/"),
            ("http://u:@a:80/", "http://u:@a/"),
            ("http://u[@a/", "http://u%5B@a/"), ("http://u%40x@a/", "http://u%40x@a/"),
            // Other schemes.
            ("APP:///Index.html", "app:///Index.html"), ("app://Module/./x", "app://module/x"), ("app://m", "app://m/"),
        ] as [(String, String?)]
    )
    func normalises(spelling: String, canonical: String?) {
        let url = CanonicalURL(spelling)
        #expect(url?.string == canonical)
        // Canonicalising twice changes nothing, and both ways of parsing agree on the parts.
        if let url, let again = CanonicalURL(url.string) {
            #expect(again == url)
            #expect(again.origin == url.origin && again.path == url.path && again.query == url.query)
            #expect(again.host == url.host && again.port == url.port && again.userInfo == url.userInfo)
        } else {
            #expect(canonical == nil)
        }
    }

    @Test(
        "is refused if programs disagree about it or it names nothing",
        arguments: [
            "", "a", "/a", "//a/", "http", "http:", "http:/a", "http:a", "http://", "http:///a", "http://?q",
            "mailto:a@b", "1http://a/",
            "://a/", " http://a/", "ht tp://a/", "http://a b/", "http://a\u{0}/", "http://a/\n", "http://a/\u{7F}",
            "http://a/\tb", "http://a/#\r",
            "http://a\\b/", "http://a\\@b/", "http://u\\@b/", "http://a@b@c/", "http://a..b/", "http://.a/",
            "http://./", "http://:80/", "http://u@/",
            "http://a:65536/", "http://a:x/", "http://a:-1/", "http://a:8 0/", "http://a:1:2/",
            "http://a:99999999999999999999/", "http://a%/", "http://a%2Fb/",
            "http://a%00/", "http://a<b/", "http://a|b/", "http://[::1/", "http://[::1]x/", "http://[]/", "http://[:]/",
            "http://[1:2]/",
            "http://[1:2:3:4:5:6:7:8:9]/", "http://[1::2::3]/", "http://[12345::]/", "http://[::g]/",
            "http://[fe80::1%25eth0]/", "http://[::1.2.3]/",
            "http://[::256.1.1.1]/", "http://[1:2:3:4:5:6:7::8]x", "http://[1:]/", "http://1.2.3.4.5/",
            "http://256.1.1.1/", "http://1.2.3.256/", "http://0xg/x", "http://08/",
            "http://a.1/", "http://4294967296/", "http://0x100000000/", "http://1..2/", "http://ｅxample.com/",
            "http://u\u{308}.example/",
            "http://ﬁ.example/", "http://a\u{200B}b/",
            "http://%ff/", "http://a\u{2044}b/", "app://u@/x", "app://:1/x",
        ]
    )
    func refuses(text: String) {
        guard text != "http://0xg/x" else {
            // A name that only resembles a number.
            #expect(CanonicalURL(text) != nil)
            return
        }
        #expect(CanonicalURL(text) == nil)
    }

    @Test func `has no label that is too long for the DNS to encode`() {
        #expect(CanonicalURL("http://" + String(repeating: "é", count: 63) + ".example/") != nil)
        #expect(CanonicalURL("http://" + String(repeating: "é", count: 64) + ".example/") == nil)
    }

    @Test func `has parts`() throws {
        let url = try #require(CanonicalURL("https://me:pw@Shop.example:8443/a/b/?x=1&y"))
        #expect(url.scheme == "https")
        #expect(url.userInfo == "me:pw")
        #expect(url.host == "shop.example")
        #expect(url.port == 8443)
        #expect(url.effectivePort == 8443)
        #expect(url.path == "/a/b/")
        #expect(url.pathSegments == ["a", "b", ""])
        #expect(url.query == "x=1&y")
        #expect(url.origin == "https://shop.example:8443")
        #expect("\(url)" == "https://me:pw@shop.example:8443/a/b/?x=1&y")
    }

    @Test func `has no parts that are not written`() throws {
        let url = try #require(CanonicalURL("http://a"))
        #expect(url.userInfo == nil)
        #expect(url.port == nil)
        #expect(url.effectivePort == 80)
        #expect(url.query == nil)
        #expect(url.origin == "http://a")
        #expect(url.pathSegments == [""])
        #expect(CanonicalURL("http://a/?")?.query == "")
        #expect(CanonicalURL("app://a/")?.effectivePort == nil)
        #expect(CanonicalURL("app:///x")?.host == "")
    }

    @Test func `is equal, as a key too, for all its spellings`() {
        let spellings = ["http://a/b", "HTTP://A:80/b#c", "http://a/./%62", "http://a/x/../b"]
        #expect(Set(spellings.compactMap(CanonicalURL.init)).count == 1)
        #expect(CanonicalURL("http://a/b") != CanonicalURL("http://a/B"))
    }

    @Test func `is read the same from a slice of a longer string`() {
        let text = "xhttp://a/b?cx".dropFirst().dropLast()
        #expect(CanonicalURL(String(text))?.string == "http://a/b?c")
    }
}
