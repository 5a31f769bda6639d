import Foundation
import Testing

@testable import WaystationRecording

@Suite("A line of a CDXJ index")
struct CDXJTests {
    /// URLs, and the keys that the Python package `surt` makes of them.
    static let keys: [(url: String, key: String)] = [
        ("http://shop.example/", "example,shop)/"),
        ("https://www.shop.example/cart/?ID=1", "example,shop)/cart?id=1"),
        ("http://www2.Shop.Example:80/A/B/", "example,shop)/a/b"),
        ("https://shop.example:8443/a?b=2&a=1&a", "example,shop:8443)/a?a&a=1&b=2"),
        ("http://shop.example/%7Euser/%2e/x/../y//z", "example,shop)/~user/y/z"),
        ("http://shop.example/caf%C3%A9?q=%E4%BD%A0", "example,shop)/caf%c3%a9?q=%e4%bd%a0"),
        ("http://shop.example/café", "example,shop)/caf%c3%a9"),
        ("http://user:pass@shop.example/x#frag", "example,shop)/x"),
        ("http://127.0.0.1:8080/index.html", "1,0,0,127:8080)/index.html"),
        ("http://[::1]:8080/a", "::1:8080)/a"),
        ("http://shop.example/?", "example,shop)/"),
        ("http://shop.example?x=1", "example,shop)/?x=1"),
        ("http://shop.example/a?sid=0123456789abcdef0123456789abcdef&b=1", "example,shop)/a?b=1"),
        ("http://shop.example/a?b=1&jsessionid=0123456789ABCDEF0123456789ABCDEF", "example,shop)/a?&b=1"),
        ("http://shop.example/a?cfid=12&cftoken=34&z=1", "example,shop)/a?z=1"),
        ("http://shop.example/(a(0123456789abcdefghijklmn))/page.aspx?x", "example,shop)/page.aspx?x"),
        ("http://shop.example/a%2525b?c=%2541", "example,shop)/a%25b?c=a"),
        ("http://shop.example./a", "example,shop)/a"),
        ("http://shop..example/a", "example,shop)/a"),
        ("http://shop.example/a;jsessionid=x?a=b;c", "example,shop)/a;jsessionid=x?a=b;c"),
        ("http://shop.example/a?b&&a=&=c", "example,shop)/a?&=c&a=&b"),
        ("http://shop.example/A%20B?C%20D=%23", "example,shop)/a%20b?c%20d=%23"),
        ("shop.example/a", "example,shop)/a"),
        ("urn:uuid:ABC", "urn:uuid:abc"),
        ("http://shop.example/../a/../../b", "example,shop)/b"),
        ("http://www.example/", "example)/"),
        ("https://shop.example:443/a?a=b?c/d", "example,shop)/a?a=b?c/d"),
        ("http://bücher.example/x", "example,xn--bcher-kva)/x"),
        ("http://shop.example/a?B=%C3%84&a=%c3%a4", "example,shop)/a?a=%c3%a4&b=%c3%84"),
        ("ftp://shop.example:21/a", "example,shop:21)/a"),
        ("http://shop.example:/a", "example,shop)/a"),
        ("http://shop.example:0/a", "example,shop)/a"),
        ("http://http://shop.example/a", "example,shop)/a"),
        ("http://shop.example/a?phpsessid=0123456789abcdef0123456789abcdef", "example,shop)/a"),
        ("http://shop.example/%", "example,shop)/%25"),
    ]

    @Test("has the key that surt makes of the URL", arguments: keys)
    func key(url: String, key: String) {
        #expect(SURT.key(of: url) == key)
    }

    private let line = CDXJLine(
        url: "https://www.shop.example/a?b=1",
        date: Date(timeIntervalSince1970: 1_767_225_599.999_999),
        mime: "text/html",
        status: "200",
        digest: "sha256:00ff",
        length: 812,
        offset: 4_096,
        filename: "site \"1\"ü.warc.gz"
    )

    @Test("is written as cdxj-indexer writes it")
    func text() {
        #expect(
            line.text
                == #"example,shop)/a?b=1 20251231235959 {"url": "https://www.shop.example/a?b=1", "mime": "text/html", "#
                + #""status": "200", "digest": "sha256:00ff", "length": "812", "offset": "4096", "#
                + #""filename": "site \"1\"\u00fc.warc.gz"}"#
        )
    }

    @Test("is read back, with its moment")
    func parse() throws {
        let read = try #require(CDXJLine(line.text))
        #expect(read == line)
        #expect(read.date == Date(timeIntervalSince1970: 1_767_225_599))
    }

    @Test("is read with numbers in place of texts, without optional members, and with others")
    func otherPrograms() throws {
        let text =
            #"example)/ 20260101000000 {"url":"http://example/","status":200,"length":10,"offset":0,"filename":"a","x":[1]}"#
        let read = try #require(CDXJLine(text))
        #expect(read.status == "200")
        #expect(read.length == 10)
        #expect(read.offset == 0)
        #expect(read.mime == nil)
    }

    @Test(
        "is nothing else",
        arguments: [
            #"!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}"#, "", "example)/ 20260101000000",
            #"example)/ 2026 {"url":"http://example/","length":1,"offset":0,"filename":"a"}"#,
            #"example)/ 20260101000000 {"url":"http://example/","length":1,"offset":-1,"filename":"a"}"#,
            #"example)/ 20260101000000 {"url":"http://example/","length":1,"filename":"a"}"#,
            #"example)/ 20260101000000 {"#,
        ]
    )
    func refused(text: String) {
        #expect(CDXJLine(text) == nil)
    }
}
