import Foundation
import Testing
import WaystationHTTP

@testable import SiteTools

@Suite("srcset (HTML, “parse a srcset attribute”)")
struct SrcSetTests {
    @Test(
        "candidates",
        arguments: [
            ("a.png", ["a.png"]), ("a.png 1x, b.png 2x", ["a.png", "b.png"]), ("a.png,b.png", ["a.png,b.png"]),
            ("a.png, b.png", ["a.png", "b.png"]), (",,a.png 1x,,b.png", ["a.png", "b.png"]),
            ("a,b.png 100w, c,d.png 200w", ["a,b.png", "c,d.png"]), ("data:,a 1x, b.png 2x", ["data:,a", "b.png"]),
            ("a.png (x,y) , b.png", ["a.png", "b.png"]), ("\n a.png\t1x\n,\n b.png\n", ["a.png", "b.png"]),
            ("", []), (" , ,", []), ("a.png 1x", ["a.png"]),
        ]
    )
    func candidates(attribute: String, urls: [String]) {
        #expect(SrcSet.urls(in: attribute) == urls)
    }
}

@Suite("CSS")
struct CSSURLsTests {
    @Test(
        "url() is found in every spelling",
        arguments: [
            ("a{b:url(x.png)}", ["x.png"]), ("a{b:url('x.png')}", ["x.png"]), ("a{b:url( \"x y.png\" )}", ["x y.png"]),
            ("a{b:URL( x.png )}", ["x.png"]), ("a{b:url(x\\)y.png)}", ["x)y.png"]), ("a{b:url(\\78.png)}", ["x.png"]),
            ("a{b:\\75 rl(x.png)}", ["x.png"]), ("a{b:url('x\\27y')}", ["x'y"]), ("a{b:url('a\\\nb')}", ["ab"]),
            ("a{b:url(x.png),url(y.png)}", ["x.png", "y.png"]), ("a{b:url(", []), ("a{b:url(x", ["x"]),
            ("/* url(no) */a{b:url(x)}", ["x"]), ("a{b:\"url(no)\"}", []), ("a{b:url(bad url)}c{d:url(x)}", ["x"]),
            ("a{b:url(bad'quote)}c{d:url(x)}", ["x"]), ("a{b:'unclosed\n}c{d:url(x)}", ["x"]),
            ("a{b:image-set('x.png' 1x, \"y.png\" type('image/png') 2x)}", ["x.png", "y.png"]),
            ("a{b:attr('no')}", []), ("@namespace s url(http://no);a{b:url(x)}", ["x"]), ("@charset 'no';", []),
            ("a{b:myurl(no)}", []), ("@font-face{src:url(x.woff2)format('woff2'),local('no')}", ["x.woff2"]),
        ]
    )
    func urls(css: String, urls: [String]) {
        #expect(CSSURLs.references(in: css).map(\.url) == urls)
    }

    @Test(
        "@import is found with a string, with url(), and with a media query",
        arguments: [
            "@import 'x.css';", "@import url(x.css);", "@import url('x.css') screen;", "@IMPORT \"x.css\" layer(a);",
            "@import/**/'x.css'", "<!-- @import 'x.css';", "@\\69mport 'x.css';",
        ]
    )
    func imports(css: String) {
        #expect(CSSURLs.references(in: css) == [.init(url: "x.css", isImport: true)])
    }
}

@Suite("HTML")
struct HTMLLinksTests {
    private func links(
        _ html: String,
        charset: String? = nil,
        at url: String = "https://example.org/dir/page"
    ) throws
        -> [String]
    {
        let base = try #require(CanonicalURL(page: url))
        return LinkExtractor.links(in: Data(html.utf8), mimeType: "text/html", charset: charset, url: base, kind: .page)
            .links.map { "\($0.kind.name) \($0.url.string.replacing("https://example.org/", with: "/"))" }
    }

    @Test(
        "the references of each element are found",
        arguments: [
            ("<a href=x>", ["link /dir/x"]), ("<map><area href='/x'></map>", ["link /x"]),
            ("<link rel=stylesheet href=x>", ["style sheet /dir/x"]),
            ("<link rel='shortcut icon' href=x>", ["image /dir/x"]),
            ("<link rel=next href=x>", ["link /dir/x"]), ("<link rel=preload as=font href=x>", ["asset /dir/x"]),
            ("<link rel=dns-prefetch href=//x.example>", []), ("<script src=x></script>", ["script /dir/x"]),
            ("<img src=x srcset='y 2x, z 3x'>", ["image /dir/x", "image /dir/y", "image /dir/z"]),
            ("<picture><source srcset=x></picture>", ["image /dir/x"]),
            ("<video src=x poster=y><track src=z></video>", ["media /dir/x", "image /dir/y", "media /dir/z"]),
            ("<audio><source src=x></audio>", ["media /dir/x"]), ("<iframe src=x></iframe>", ["frame /dir/x"]),
            ("<frameset><frame src=x></frameset>", ["frame /dir/x"]), ("<embed src=x>", ["object /dir/x"]),
            ("<object data=x></object>", ["object /dir/x"]), ("<input type=IMAGE src=x>", ["image /dir/x"]),
            ("<meta http-equiv=Refresh content='0; URL=x'>", ["refresh /dir/x"]),
            ("<p style='background:url(x)'>", ["style url /dir/x"]),
            ("<style>@import 'x'; a{b:url(y)}</style>", ["style sheet /dir/x", "style url /dir/y"]),
            ("<svg><use xlink:href='x#y'/><image href=z /></svg>", ["image /dir/x", "image /dir/z"]),
            ("<svg><a href=x></a></svg>", ["link /dir/x"]), ("<template><img src=x></template>", ["image /dir/x"]),
            ("<noscript><img src=x></noscript>", ["image /dir/x"]), ("<body background=x>", ["image /dir/x"]),
        ]
    )
    func elements(html: String, expected: [String]) throws {
        #expect(try links(html) == expected)
    }

    @Test("entities, white space and fragments are not part of a URL; one target is listed once")
    func values() throws {
        #expect(
            try links("<a href='x?a=1&amp;b=2#c'> <a href=' x?a=1&b=2 '> <a href='#here'>") == ["link /dir/x?a=1&b=2"]
        )
    }

    @Test(
        "references with other schemes are ignored",
        arguments: ["data:,x", "javascript:x()", "mailto:a@b.example", "tel:1", "ftp://a/b"]
    )
    func otherSchemes(reference: String) throws {
        #expect(try links("<a href='\(reference)'><img src='\(reference)'>").isEmpty)
    }

    @Test("text that only looks like markup has no links")
    func lookalikes() throws {
        #expect(try links("<!-- <a href=x> --><script>'<a href=x>'</script><textarea><a href=x></textarea>").isEmpty)
    }

    @Test("the first base with an href counts")
    func base() throws {
        #expect(try links("<base target=x><base href='../b/'><base href='/no/'><a href=x>") == ["link /b/x"])
    }

    @Test("an extremely nested page neither overflows the stack nor takes for ever; its beginning is read")
    func nesting() throws {
        let html = "<a href=x>" + String(repeating: "<div>", count: 200_000) + "<a href=y>"
        #expect(try links(html) == ["link /dir/x"])
    }

    @Test("any number of adjacent elements is read, closed or not")
    func breadth() throws {
        let row = "<tr><td><p>x<br><li>y<b>z</b>"
        #expect(try links("<table>" + String(repeating: row, count: 3000) + "</table><a href=x>") == ["link /dir/x"])
    }

    @Test(
        "the URL of a refresh is found as HTML defines it",
        arguments: [
            ("5; url=next.html", "next.html"), ("0;URL='next.html'", "next.html"), ("0, next.html", "next.html"),
            ("0 url = \"next.html\"x", "next.html"), ("5", nil), ("", nil), ("x; url=next.html", nil), ("5;", nil),
            ("1.5;url=a", "a"),
        ] as [(String, String?)]
    )
    func refresh(content: String, url: String?) {
        #expect(MetaRefresh.url(in: content) == url)
    }

    @Test(
        "pages in old encodings are read",
        arguments: [
            ("windows-1252", nil, "<a href='caf\u{E9}'>"), (nil, "<meta charset=iso-8859-1>", "<a href='caf\u{E9}'>"),
            (nil, "<meta http-equiv=content-type content='text/html; charset=Latin1'>", "<a href='caf\u{E9}'>"),
            (nil, nil, "<a href='caf\u{E9}'>"),
        ] as [(String?, String?, String)]
    )
    func encodings(header: String?, meta: String?, body: String) throws {
        let bytes = try #require(((meta ?? "") + body).data(using: .isoLatin1))
        let url = try #require(CanonicalURL(page: "https://example.org/"))
        let extracted = LinkExtractor.links(in: bytes, mimeType: "text/html", charset: header, url: url, kind: .page)
        #expect(extracted.links.map(\.url.string) == ["https://example.org/caf%C3%A9"])
    }
}

@Suite("Sitemaps")
struct SitemapParserTests {
    @Test("XML lists pages, not the pictures of an extension")
    func pages() {
        let xml = """
            \u{FEFF}<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="http://i">
            <url><loc> https://a.example/x?a=1&amp;b=2 </loc><i:image><i:loc>https://no</i:loc></i:image></url>
            <url><loc><![CDATA[https://a.example/y]]></loc></url></urlset>
            """
        #expect(
            SitemapParser.entries(in: Data(xml.utf8)).pages == ["https://a.example/x?a=1&b=2", "https://a.example/y"]
        )
    }

    @Test("an index lists sitemaps, plain text lists pages, and a broken-off file keeps its beginning")
    func otherForms() {
        let index = "<sitemapindex><sitemap><loc>https://a/1.xml</loc></sitemap></sitemapindex>"
        #expect(SitemapParser.entries(in: Data(index.utf8)).sitemaps == ["https://a/1.xml"])
        let text = "https://a/1\r\nnonsense\n https://a/2 \n"
        #expect(SitemapParser.entries(in: Data(text.utf8)).pages == ["https://a/1", "https://a/2"])
        let cut = "<urlset><url><loc>https://a/1</loc></url><url><loc>https://a/"
        #expect(SitemapParser.entries(in: Data(cut.utf8)).pages == ["https://a/1"])
    }

    @Test("gzip is decompressed up to its limit")
    func gzip() throws {
        // printf 'https://a/1\n' | gzip -n
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAAAA8soKSkottLXT9Q35AIAkQfVGQwAAAA="))
        let body = Gunzip.data(from: packed, limit: 100)
        #expect(body.map { String(decoding: $0, as: UTF8.self) } == "https://a/1\n")
        #expect(SitemapParser.entries(in: packed).pages == ["https://a/1"])
        #expect(Gunzip.data(from: packed, limit: 5) == nil)
        #expect(Gunzip.data(from: packed.dropLast(9), limit: 100) == nil)
    }
}
