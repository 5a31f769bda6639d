import Foundation
import Testing
import WaystationHTTP

@testable import SiteTools

@Suite("The encoding of a document")
struct PageTextTests {
    private func encoding(
        _ text: String,
        charset: String? = nil,
        form: PageText.Form = .html,
        parent: WebEncoding? = nil
    ) -> WebEncoding {
        PageText(Data(text.utf8), charset: charset, form: form, parent: parent).encoding
    }

    @Test(
        "of a page is declared by a meta element or an XML declaration (HTML, “prescan a byte stream”)",
        arguments: [
            ("<meta charset=gbk>", .gbk), ("<META CharSet='Shift_JIS'/>", .shiftJIS),
            ("<meta charset = \" koi8-r \">", .koi8R),
            ("<meta/charset=gbk>", .gbk), ("<meta\ncharset=big5>", .big5), ("<metacharset=gbk>", nil),
            ("<meta charset=utf-16>", .utf8), ("<meta charset=x-user-defined>", .windows1252),
            ("<meta charset=x>", nil),
            ("<meta charset=x><meta charset=gbk>", .gbk), ("<meta charset=gbk charset=big5>", .gbk),
            ("<meta http-equiv=Content-Type content='text/html; charset=euc-kr'>", .eucKR),
            ("<meta content='text/html;charset = \"euc-jp\" x' http-equiv=content-type>", .eucJP),
            ("<meta content='text/html; charset=gbk'>", nil), ("<meta name=a content='charset=gbk'>", nil),
            ("<meta http-equiv=content-type content='charsetcharset charset=gbk;x'>", .gbk),
            ("<meta http-equiv=content-type content=\"charset='gbk\">", nil),
            ("<meta http-equiv=content-type content='charset=gbk' charset=big5>", .big5),
            ("<!-- <meta charset=gbk> --><meta charset=big5>", .big5), ("<!--><meta charset=gbk>", .gbk),
            ("<!-- a > <meta charset=gbk>", nil), ("<!x <meta charset=gbk>", nil), ("<?x?><meta charset=gbk>", .gbk),
            ("<a title='<meta charset=gbk>'><meta charset=big5>", .big5), ("</a b='>' ><meta charset=gbk>", .gbk),
            ("<script>'<meta charset=gbk>'</script>", .gbk), ("<meta charset=gbk", nil), ("<meta charset='gbk", nil),
            ("<?xml version='1.0' encoding='koi8-r'?><html>", .koi8R), ("<?xml encoding = \"gbk\" ?>", .gbk),
            ("<?xml encoding='koi8-r'?><meta charset=gbk>", .gbk), ("<?xml encoding='utf-16'?>", .utf8),
            ("<?xml encoding='koi8-r\n'?>", nil), (" <?xml encoding='koi8-r'?>", nil),
            ("<p>" + String(repeating: "x", count: 1100) + "<meta charset=gbk>", nil),
        ] as [(String, WebEncoding?)]
    )
    func prescan(html: String, encoding: WebEncoding?) {
        #expect(EncodingPrescan.html(Data(html.utf8).prefix(1024)) == encoding)
    }

    @Test("is that of the byte order mark, then of the response, then of the page, then of the page around it")
    func order() {
        let meta = "<meta charset=koi8-r>"
        #expect(encoding("\u{FEFF}" + meta, charset: "gbk") == .utf8)
        #expect(PageText(Data([0xFF, 0xFE, 0x61, 0x00]), charset: "gbk", form: .html).utf8 == Data("a".utf8))
        #expect(PageText(Data([0xFE, 0xFF, 0x00, 0x61]), charset: "gbk", form: .css).utf8 == Data("a".utf8))
        #expect(encoding(meta, charset: " GB2312 ", parent: .big5) == .gbk)
        #expect(encoding(meta, charset: "'gbk'", parent: .big5) == .koi8R)
        #expect(encoding("<p>", charset: "nonsense", parent: .big5) == .big5)
        #expect(encoding("<p>é") == .utf8)
        #expect(PageText(Data([0x3C, 0x70, 0x3E, 0xE9]), charset: nil, form: .html).encoding == .windows1252)
        #expect(encoding("a", charset: "utf-16") == .utf16LE)
    }

    @Test(
        "of an XML document is that of its declaration, otherwise UTF-8",
        arguments: [
            ("<?xml version='1.0' encoding='windows-1251'?><a/>", .windows1251), ("<a/>", .utf8),
            ("<html><meta charset='gbk'/></html>", .utf8), ("<?xml version=\"1.0\"?><a b='encoding=\"gbk\"'/>", .utf8),
        ] as [(String, WebEncoding)]
    )
    func xml(text: String, encoding: WebEncoding) {
        #expect(self.encoding(text, form: .xml, parent: .big5) == encoding)
    }

    @Test("of an XML document in UTF-16 needs no byte order mark")
    func xmlUTF16() throws {
        let little = try #require("<?xml version='1.0'?>".data(using: .utf16LittleEndian))
        let big = try #require("<?xml version='1.0'?>".data(using: .utf16BigEndian))
        for form in [PageText.Form.xml, .html] {
            #expect(PageText(little, charset: nil, form: form).encoding == .utf16LE)
            #expect(PageText(big, charset: nil, form: form).encoding == .utf16BE)
        }
    }

    @Test(
        "of a style sheet is that of @charset, if it is written exactly so (CSS Syntax, section 3.2)",
        arguments: [
            ("@charset \"gbk\";", .gbk), ("@charset \"utf-16\";", .utf8), ("@charset 'gbk';", nil),
            ("@charset  \"gbk\";", nil), (" @charset \"gbk\";", nil), ("@CHARSET \"gbk\";", nil),
            ("@charset \"gbk\" ;", nil),
            ("@charset \"", nil), ("@charset \"gbk\"", nil), ("@charset \"none\";", nil), ("", nil),
        ] as [(String, WebEncoding?)]
    )
    func css(text: String, encoding: WebEncoding?) {
        #expect(self.encoding(text, form: .css, parent: .koi8R) == encoding ?? .koi8R)
        #expect(self.encoding(text, charset: "big5", form: .css, parent: .koi8R) == .big5)
        #expect(self.encoding(text, form: .css) == encoding ?? .utf8)
    }

    @Test("is settled but for pages, whose later meta elements may still change it")
    func certainty() {
        #expect(PageText(Data("<meta charset=gbk>".utf8), charset: nil, form: .html).confidence == .tentative)
        #expect(PageText(Data(), charset: nil, form: .html, parent: .gbk).confidence == .tentative)
        #expect(PageText(Data(), charset: nil, form: .html).confidence == .guessed)
        #expect(PageText(Data(), charset: "gbk", form: .html).confidence == .certain)
        #expect(PageText(Data("\u{FEFF}".utf8), charset: nil, form: .html).confidence == .certain)
        #expect(PageText(Data(), charset: nil, form: .xml).confidence == .certain)
    }

    @Test("that the system has no table for leaves the ASCII part, and the reason")
    func missingTable() {
        let bytes = Data("<a href=x>".utf8 + [0xD6, 0xD0])
        let text = PageText(bytes, in: .gbk, decode: { _, _ in nil })
        #expect(text.utf8 == Data("<a href=x>\u{FFFD}\u{FFFD}".utf8))
        #expect(text.problem?.hasPrefix("its characters are in GBK, which this system's iconv does not know") == true)
        #expect(PageText(bytes, in: .gbk).problem == nil)
        #expect(PageText(Data("a".utf8), in: .gbk, decode: { _, _ in nil }).problem == nil)
        #expect(PageText(Data("\u{1B}(J\\".utf8), in: .iso2022JP).utf8 == Data("¥".utf8))
    }
}

@Suite("Links in pages of other encodings")
struct EncodedLinkTests {
    /// The links of a document that is written in windows-1251.
    private func links(
        _ text: String,
        type: String = "text/html",
        charset: String? = nil,
        linkCharset: String? = nil
    ) throws -> [String] {
        try extracted(text, type: type, charset: charset, linkCharset: linkCharset).links
            .map { $0.url.string.replacing("http://a", with: "") }
    }

    private func extracted(
        _ text: String,
        type: String = "text/html",
        charset: String? = nil,
        linkCharset: String? = nil
    ) throws -> ExtractedLinks {
        let body = try #require(text.data(using: .windowsCP1251))
        let url = try #require(CanonicalURL(page: "http://a/b/c?d"))
        return LinkExtractor.links(
            in: body,
            mimeType: type,
            charset: charset,
            url: url,
            kind: .page,
            linkCharset: linkCharset
        )
    }

    @Test("have their path in UTF-8 and their query in the page's encoding")
    func queries() throws {
        let page = "<meta charset=windows-1251><a href='/ж?ж=&#20013;#ж'><img src='?ж'><base href='/é?' target=x>"
            .replacing("é", with: "ж")
        #expect(try links(page) == ["/%D0%B6?%E6=%26%2320013%3B", "/%D0%B6?%E6"])
        #expect(try links("<a href='/ж?ж'>", charset: "koi8-r") == ["/%D0%A4?%E6"])
        #expect(try links("<a href=\"/?ж\\|'\">", charset: "windows-1251") == ["/?%E6%5C%7C%27"])
    }

    @Test("in style elements are like those of the page; in style attributes and @import, queries are in UTF-8")
    func styles() throws {
        let page = "<style>@import '?ж';a{b:url(/ж?ж)}</style><p style='c:url(/ж?ж)'>"
        #expect(try links(page, charset: "windows-1251") == ["/b/c?%D0%B6", "/%D0%B6?%E6", "/%D0%B6?%D0%B6"])
    }

    @Test("count in the encoding of a meta element that comes late")
    func lateMeta() throws {
        let page = "<a href='/ж?ж'><!--" + String(repeating: "x", count: 2000) + "--><meta charset=windows-1251>"
        #expect(try links(page) == ["/%D0%B6?%E6"])
        #expect(try links(page, charset: "koi8-r") == ["/%D0%A4?%E6"])
        // The prescan also finds what only looks like an element; the parser knows better.
        let lookalike = "<script>'<meta charset=koi8-r>'</script><meta charset=windows-1251><a href='/ж'>"
        #expect(try links(lookalike) == ["/%D0%B6"])
    }

    @Test("in style sheets are read by @charset, or in the encoding of the page that links to them")
    func styleSheets() throws {
        let sheet = "@import '/i?ж';a{b:url(/ж?ж)}"
        let expected = ["/i?%D0%B6", "/%D0%B6?%E6"]
        #expect(try links("@charset \"windows-1251\";" + sheet, type: "text/css") == expected)
        #expect(try links(sheet, type: "text/css", linkCharset: "windows-1251") == expected)
        #expect(try links(sheet, type: "text/css", charset: "Windows-1251", linkCharset: "koi8-r") == expected)
        #expect(try links("a{b:url(/ж)}", type: "text/css") == ["/%EF%BF%BD"])
    }

    @Test("pass the page's encoding on to style sheets and to frames of the same origin")
    func inheritance() throws {
        let page = """
            <link rel=stylesheet href=//b/x><style>@import 'y'</style><iframe src=z></iframe><iframe src=//b/z></iframe>
            <a href=w><img src=v>
            """
        let found = try extracted(page, charset: "windows-1251").links
        #expect(found.map(\.charset) == ["windows-1251", "windows-1251", "windows-1251", nil, nil, nil])
        // Such a page is often a frameset in ASCII, whose frames are not.
        let guessed = try extracted(page).links
        #expect(guessed.map(\.charset) == ["UTF-8", "UTF-8", nil, nil, nil, nil])
        #expect(try links("<a href='/ж'>", linkCharset: "windows-1251") == ["/%D0%B6"])
    }

    @Test("in XHTML and SVG are read by the XML declaration", arguments: ["application/xhtml+xml", "image/svg+xml"])
    func xml(type: String) throws {
        let text = "<?xml version='1.0' encoding='windows-1251'?><svg><a href='/ж?ж'/></svg>"
        #expect(try links(text, type: type) == ["/%D0%B6?%E6"])
    }

    @Test("in XML of no special type count if it is XHTML or SVG", arguments: ["application/xml", "text/xml"])
    func otherXML(type: String) throws {
        let declaration = "<?xml version='1.0' encoding='windows-1251'?>"
        let page = declaration + "<html xmlns='http://www.w3.org/1999/xhtml'><a href='/ж'/></html>"
        let found = try extracted(page, type: type)
        #expect(found.links.map(\.url.string) == ["http://a/%D0%B6"])
        #expect(found.isPage)
        let picture = try extracted("<svg xmlns='http://www.w3.org/2000/svg'><image href='x'/></svg>", type: type)
        #expect(picture.links.map(\.url.string) == ["http://a/b/x"])
        #expect(!picture.isPage)
        #expect(try links(declaration + "<rss><a href='/x'/></rss>", type: type).isEmpty)
        #expect(LinkExtractor.mayHoldLinks(mimeType: type))
    }

    @Test("in a page within a srcdoc are relative to the page around it, with queries in UTF-8")
    func srcdoc() throws {
        let page = """
            <base href=/base/><iframe srcdoc="<a href='x?ж'><base href='in/'><iframe srcdoc='<img src=y>'></iframe>">
            </iframe>
            """
        #expect(try links(page, charset: "windows-1251") == ["/base/in/x?%D0%B6", "/base/in/y"])
    }

    @Test("in pages nested in srcdoc are read four pages deep")
    func nestedSrcdoc() throws {
        let page = (0..<7).reversed().reduce("") { inner, depth in
            let value = inner.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
            return "<img src=\(depth)><iframe srcdoc=\"\(value)\"></iframe>"
        }
        #expect(try links(page) == ["/b/0", "/b/1", "/b/2", "/b/3", "/b/4"])
    }

    @Test("of a response's Refresh field are found as those of a meta element")
    func refreshField() throws {
        let url = try #require(CanonicalURL(page: "http://a/b/c"))
        #expect(LinkExtractor.refresh(field: "5; url=d?e", url: url)?.url.string == "http://a/b/d?e")
        #expect(LinkExtractor.refresh(field: "0;URL='/d'", url: url)?.kind == .refresh)
        #expect(LinkExtractor.refresh(field: "5", url: url) == nil)
    }

    @Test("in pages of an unknown type are found behind a byte order mark, and in UTF-16")
    func unknownType() throws {
        let url = try #require(CanonicalURL(page: "http://a/"))
        let html = "\u{FEFF}<html><a href=x>"
        for body in [Data(html.utf8), try #require(html.data(using: .utf16LittleEndian))] {
            let found = LinkExtractor.links(in: body, mimeType: "", charset: nil, url: url, kind: .page)
            #expect(found.links.map(\.url.string) == ["http://a/x"])
        }
    }

    @Test("in sitemaps are read in the encoding of the response or of the document")
    func sitemaps() throws {
        let xml = "<urlset><url><loc>http://a/ж</loc></url></urlset>"
        let declared = "<?xml version='1.0' encoding='windows-1251'?>" + xml
        let bytes = try #require(declared.data(using: .windowsCP1251))
        #expect(SitemapParser.entries(in: bytes).pages == ["http://a/ж"])
        let bare = try #require(xml.data(using: .windowsCP1251))
        #expect(SitemapParser.entries(in: bare, charset: "windows-1251").pages == ["http://a/ж"])
        let wide = try #require(("\u{FEFF}" + declared).data(using: .utf16BigEndian))
        #expect(SitemapParser.entries(in: wide).pages == ["http://a/ж"])
        let list = try #require("http://a/ж\n".data(using: .windowsCP1251))
        #expect(SitemapParser.entries(in: list, charset: "cp1251").pages == ["http://a/ж"])
    }

    @Test("are disallowed by a robots.txt in another encoding")
    func robots() throws {
        let text = "User-agent: *\nDisallow: /ж"
        let url = try #require(CanonicalURL(page: "http://a/ж"))
        let cyrillic = try #require(text.data(using: .windowsCP1251))
        let wide = try #require(("\u{FEFF}" + text).data(using: .utf16LittleEndian))
        for body in [
            RobotsRules.text(cyrillic, charset: "windows-1251"), RobotsRules.text(wide, charset: nil),
            RobotsRules.text(Data(text.utf8), charset: nil), RobotsRules.text(Data(text.utf8), charset: "utf-8"),
        ] {
            #expect(!RobotsRules(status: 200, body: [UInt8](body), agent: "x").allows(url))
        }
        #expect(RobotsRules.text(cyrillic, charset: nil) == cyrillic)
    }
}
