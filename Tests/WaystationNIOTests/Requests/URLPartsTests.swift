#if NIO
import Testing

@testable import WaystationNIO

@Suite("The parts of a URL")
struct URLPartsTests {
    @Test("are taken apart, percent-encoding left alone")
    func parts() throws {
        let parts = try #require(URLParts("HTTP://us%40er:p%3Aw@Host.Example:8080/a%2fb/../c?x=%2e?y#frag?"))
        #expect(!parts.isSecure)
        #expect(parts.host == "Host.Example")
        #expect(parts.port == 8080)
        #expect(parts.userinfo == "us%40er:p%3Aw")
        #expect(parts.path == "/a%2fb/../c")
        #expect(parts.query == "?x=%2e?y")
        #expect(parts.authority == "Host.Example:8080")
    }

    @Test(
        "The default port is neither needed nor sent",
        arguments: [
            ("http://h", "h", 80), ("https://h/", "h", 443), ("http://h:80/", "h", 80), ("https://h:443", "h", 443),
            ("http://h:443", "h:443", 443), ("http://h:", "h", 80), ("http://[::1]/", "[::1]", 80),
            ("https://[::1]:8443?q", "[::1]:8443", 8443),
        ]
    )
    func ports(url: String, authority: String, port: Int) throws {
        let parts = try #require(URLParts(url))
        #expect(parts.authority == authority)
        #expect(parts.effectivePort == port)
    }

    @Test(
        "Other schemes, zone identifiers and URLs without a usable host are refused",
        arguments: [
            "ftp://h/", "http:/path", "http:///path", "http://", "http://:80/", "http://h:0/", "http://h:65536/",
            "http://h:-1/", "http://[fe80::1%25eth0]/", "http://[::1/", "http://[::1]x/", "http://a b/", "http://h/a b",
            "http://h/a\r\nb", "http://h/?\u{7F}", "http://a%00b/", "http://[]/", "file:///etc", "h", "",
        ]
    )
    func refused(url: String) { #expect(URLParts(url) == nil) }

    @Test(
        "Dot segments are removed as in RFC 3986 §5.2.4",
        arguments: [
            ("", "/"), ("/", "/"), ("/a/b/c/./../../g", "/a/g"), ("/a/./b/../c", "/a/c"), ("/a/..", "/"),
            ("/a/.", "/a/"), ("/..", "/"), ("/../../a", "/a"), ("/a/b/..", "/a/"), ("/...", "/..."), ("/.a", "/.a"),
            ("/a//b/..//c", "/a///c"), ("/%2e%2e/a", "/%2e%2e/a"), ("/a/%7e/", "/a/%7e/"),
        ]
    )
    func dotSegments(path: String, expected: String) {
        #expect(DotSegments.removed(from: Substring(path)) == expected)
    }
}
#endif
