#if Gateway
import Foundation
import Testing

@testable import WaystationGateway

/// In the texts, `§` stands for `https://shop.example`, and after the rewriting for the gateway's URL for it.
@Suite("The links of a page")
struct PageRewritingTests {
    private func expectRewritten(_ text: String, kind: BodyRewriter.Kind = .page(.html)) {
        let before = text.replacing("§", with: "https://shop.example")
        let after = text.replacing("§", with: RewritingOfText.shop)
        #expect(RewritingOfText(kind: kind)(before) == after)
    }

    private func expectUnchanged(_ text: String, kind: BodyRewriter.Kind = .page(.html)) {
        #expect(RewritingOfText(kind: kind)(text) == text)
    }

    @Test(
        "lead to the gateway in every attribute that browsers follow",
        arguments: [
            "<a href=\"§/a?b=1#c\">x</a>", "<a href='§/a'>", "<a href=§/a>", "<a href=§>", "<A HREF = \"§\">",
            "<a\thref\n=\r\n\"§/\"class=b>", "<a class=b href=§/a/>", "<img/src=§/a>", "<img alt= title src=§/a>",
            "<img alt=\"<a href='https://shop.example'\" src=\"§/a>b\">",
            "<script src=\"§/s.js\" integrity=\"sha384-x\"></script>", "<link rel=stylesheet href=§/a.css>",
            "<video poster=§/p.jpg src=\"§/v.mp4\"></video>", "<object data=§/o></object>",
            "<form action=§/f><button formaction=§/g></form>", "<html manifest=§/m>", "<td background=§/b>",
            "<a ping=\"§/p  https://elsewhere.example/ §/q\" href=/a>", "<svg><use xlink:href=\"§/u#i\"/></svg>",
            "<base href=\"§/base/\">", "<iframe src=§/frame></iframe>", "<x-player src=§/v>",
            "<meta http-equiv=refresh content=\"5; url=§/next\">",
            "<meta content='0;URL=\"§/next\"' http-equiv=Refresh>",
            "<meta http-equiv=refresh content=\"1,§/next\">", "<meta http-equiv=refresh content=\"1 '§/n'\">",
            "<a href=\"\n §/spaces \t\">", "<p <a href=§/unclosed>", "<a href=x/ href2=y src=§/slash>",
            "<div style=\"background: url(§/b.png)\">", "<div style='background: url(\"§/b.png\")'>",
            "<div style=\"background: url(&quot;§/b.png&quot;)\">", "<div style=\"background: url(§/open\">",
            "<img srcset=\"§/1.png 1x, §/2.png 2x\">", "<img srcset=\"§/1.png,https://shop.example/part-of-it 2x\">",
            "<img srcset=\",, §/1.png, , §/2.png 2x (a,b), §/3.png,\">",
            "<link rel=preload as=image imagesrcset=\"§/a 1x,\n§/b 2x\">",
            "<!-- --><a href=§/1><!--><a href=§/2><!---><a href=§/3><!-- --!><a href=§/4><!----><a href=§/5>",
            "<?php ?><a href=§/1></ x><a href=§/2><!x><a href=§/3></><a href=§/4><![CDATA[><a href=§/5>",
            "<title><a href=x></title ><a href=§/1><textarea></TEXTAREA\n><a href=§/2>",
            "<script>'</scripty>'</script x='>'><a href=§/1>",
            "<script><!--<script></script>--></script><a href=§/1>", "<script><!--><script></script><a href=§/1>",
            "<script><!-- <script> --> </script><a href=§/1>",
            "<svg><title><b>x</b></title><style>a{}</style><a href=§/1></svg><title></svg></title><a href=§/2>",
            "<svg><![CDATA[<a href=x>]]><a href=§/1>", "<math><mi><![CDATA[><a href=§/2></mi></math>",
            "<svg><![cdata[></svg><a href=§/1>",
            "<svg><script></svg><a href=§/in-svg>", "<svg><div><style><a href=x></style><a href=§/1>",
            "<svg><style>a { background: url(§/b.png) }</style></svg>",
            "<style>a { background: url(§/b.png) }</style>", "<style>\u{40}import \"§/i.css\";</style>",
            "<style>a { background: url(§/end)</style><a href=§/1>", "<style>a { background: url(§/end-of-page",
        ]
    )
    func followed(text: String) { expectRewritten(text) }

    @Test(
        "are found in every spelling that browsers take",
        arguments: [
            ("//shop.example/a", "/a"), ("HTTPS://Shop.Example/a", "/a"), ("https:\\\\shop.example\\a", "\\a"),
            ("https:/\\/shop.example/a", "/a"), ("\\/shop.example", ""), ("h\nt\ttps://sh\rop.example/a", "/a"),
            ("https://user:secret@shop.example/a", "/a"), ("https://shop.example:443/a", "/a"),
            ("https://shop.example:?a", "?a"), ("https://sh%6Fp.example#a", "#a"),
            ("&#104;ttps&colon;&sol;&sol;shop&period;example&#x2f;a", "&#x2f;a"),
            ("https&#58//shop.example/&amp;", "/&amp;"),
            ("&Tab;https://shop.example/a&copy=1", "/a&copy=1"),
            ("https://&NewLine;shop.example/caf&eacute;", "/caf&eacute;"),
        ]
    )
    func spellings(url: String, rest: String) {
        let prefix = url.hasPrefix("&Tab;") ? "&Tab;" : ""
        #expect(RewritingOfText()("<a href=\"\(url)\">") == "<a href=\"\(prefix)\(RewritingOfText.shop)\(rest)\">")
    }

    @Test("keep their ports and their schemes in the gateway's name")
    func origins() {
        #expect(
            RewritingOfText()("<a href=http://shop.example:8000/a>")
                == "<a href=http://shop-example-8000-http.localhost:8080/a>"
        )
        #expect(
            RewritingOfText()("<a href=http:shop.example/a>") == "<a href=http://shop-example-http.localhost:8080/a>"
        )
        #expect(
            RewritingOfText()("<base href=http://shop.example/><a href=//shop.example/a>")
                == "<base href=http://shop-example-http.localhost:8080/><a href=http://shop-example-http.localhost:8080/a>"
        )
    }

    @Test(
        "stay as they are where no browser follows them, and where they do not lead to a host of the rules",
        arguments: [
            "<a href=/a>", "<a href=a>", "<a href=https:/shop.example/a>", "<a href=https:shop.example>",
            "<a href=https://elsewhere.example/>", "<a href=https://shop.example.evil/>",
            "<a href=ftp://shop.example/>",
            "<a href=https://shop.example@evil.example/>", "<a href=https://shop.example:99999/>",
            "<a href=https://shop.example:x/>", "<a href=https://[::1]/>", "<a href=https://127.1/>",
            "<a href=https://>",
            "<a href=https:// shop.example>", "<a href=javascript:'https://shop.example/'>", "<a href>", "<a href=>",
            "<a href=/first href=https://shop.example/second>", "<a href href=https://shop.example/second>",
            "<a data=https://shop.example/>", "<a title=https://shop.example/>", "<a hrefx=https://shop.example/>",
            "<meta property=og:image content=https://shop.example/>",
            "<meta name=refresh content='0;url=https://shop.example/'>",
            "<meta http-equiv=refresh content='x;url=https://shop.example/'>",
            "<meta http-equiv=refresh content='0;url https://shop.example/'>",
            "<p>https://shop.example/</p>", "</a href=https://shop.example/>",
            "<!-- <a href=https://shop.example/> -->",
            "<!-- > -- > --x <a href=https://shop.example/>", "<!x <a href=https://shop.example/",
            "<!--!><a href=https://shop.example/>",
            "< a href=https://shop.example/>", "<1 href=https://shop.example/>", "<a href=https://shop.example/",
            "<a href='https://shop.example/", "<title><a href=https://shop.example/></title>",
            "<textarea></textareax><a href=https://shop.example/>",
            "<plaintext><a href=https://shop.example/></plaintext>",
            "<script>'<a href=\"https://shop.example/\">'</script>", "<xmp><a href=https://shop.example/></xmp>",
            "<iframe><a href=https://shop.example/></iframe>", "<noscript><img src=https://shop.example/></noscript>",
            "<script><!--<script></script><a href=https://shop.example/>",
            "<script><!-- </scrip><a href=https://shop.example/>",
            "<svg><![CDATA[<a href=https://shop.example/>]]></svg>", "<svg xmlns=https://shop.example/>",
            "<a href='x' =https://shop.example/>", "<img srcset='/a.png,https://shop.example/b 2x'>",
            "<style>/* url(https://shop.example/) */ a { b: \"url(https://shop.example/)\" }</style>",
            "<div style='a: b(https://shop.example/)'>", "",
        ]
    )
    func unchanged(text: String) { expectUnchanged(text) }

    @Test(
        "get the scheme of their page if they have none and lead out of the gateway",
        arguments: [
            ("<script src=//elsewhere.example/a></script>", "<script src=https://elsewhere.example/a></script>"),
            ("<img srcset='//elsewhere.example/1 1x, /2 2x'>", "<img srcset='https://elsewhere.example/1 1x, /2 2x'>"),
            ("<a href=\" \\/elsewhere.example\">", "<a href=\" https:\\/elsewhere.example\">"),
            ("<a href=&sol;/elsewhere.example/>", "<a href=https:&sol;/elsewhere.example/>"),
            ("<a href=//127.1/><a href='//[::1]/'>", "<a href=https://127.1/><a href='https://[::1]/'>"),
            ("<a href='/\t/b\u{fc}cher.example/'>", "<a href='https:/\t/b\u{fc}cher.example/'>"),
            ("<p style=\"b: url('//elsewhere.example/b')\">", "<p style=\"b: url('https://elsewhere.example/b')\">"),
            (
                "<meta http-equiv=refresh content='0;url=//elsewhere.example/'>",
                "<meta http-equiv=refresh content='0;url=https://elsewhere.example/'>"
            ),
            (
                "<base href=//shop.example/b/><a href=//other.example/>",
                "<base href=http://shop-example.localhost:8080/b/><a href=https://other.example/>"
            ),
            (
                "<base href=//elsewhere.example/><script src=a.js></script><a href=//other.example/>",
                "<base href=https://elsewhere.example/><script src=a.js></script><a href=//other.example/>"
            ),
            // The browser has the scheme of such a base URL itself.
            (
                "<base href=https://elsewhere.example/><a href=//other.example/>",
                "<base href=https://elsewhere.example/><a href=//other.example/>"
            ),
            (
                "<base href=http://elsewhere.example/><a href=//other.example/>",
                "<base href=http://elsewhere.example/><a href=//other.example/>"
            ),
            ("<a href=//><a href=/><a href=>", "<a href=//><a href=/><a href=>"),
        ]
    )
    func schemes(text: String, expected: String) { #expect(RewritingOfText()(text) == expected) }

    @Test("stay without a scheme on a page of http, whose scheme is that of the gateway")
    func schemesOfPlainPages() {
        let links = Links(names: LocalNames(port: 8080), scheme: "http") { _ in false }
        #expect(RewritingOfText(links: links)("<a href=//elsewhere.example/>") == "<a href=//elsewhere.example/>")
    }

    @Test(
        "lose the directives in the policy of a page that would forbid plain http",
        arguments: [
            ("\"upgrade-insecure-requests\"", "\";\""), ("upgrade-insecure-requests", ";"),
            (
                "'Upgrade-Insecure-Requests; img-src https://cdn.example'",
                "';; img-src https://cdn.example http://cdn-example.localhost:8080'"
            ),
            ("'img-src *;block-all-mixed-content ; font-src *'", "'img-src *;; ; font-src *'"),
            ("img-src;upgrade-insecure-requests&semi;default-src", "img-src;;&semi;default-src"),
            ("'sandbox upgrade-insecure-requests'", "'sandbox upgrade-insecure-requests'"),
            ("img-src&#32;https://cdn.example", "img-src&#32;https://cdn.example"),
        ]
    )
    func droppedDirectives(policy: String, expected: String) {
        let tag = "<meta http-equiv=Content-Security-Policy content="
        #expect(RewritingOfText()(tag + policy + ">") == tag + expected + ">")
    }

    @Test("allow the gateway's name beside an origin in the policy of a page")
    func policy() {
        #expect(
            RewritingOfText()(
                "<meta http-equiv=Content-Security-Policy content=\"img-src https://cdn.example/a/; font-src 'self' *.x\">"
            )
                == """
                <meta http-equiv=Content-Security-Policy content="img-src https://cdn.example/a/ \
                http://cdn-example.localhost:8080/a/; font-src 'self' *.x *.localhost:8080">
                """
        )
    }

    @Test(
        "are found in XHTML and SVG by the rules of XML",
        arguments: [
            "<?xml version='1.0'?><a href='§/1'/>", "<title><a href='§/1'/></title>",
            "<script><a href='§/1'/></script>",
            "<style><![CDATA[ a { b: url(§/b) } ]]></style>", "<svg:a xlink:href='§/1'/>", "<_a href='§/1'/>",
            "<!DOCTYPE svg [ <!ENTITY a 'x>'> ]><a href='§/1'/>",
            "<!DOCTYPE svg [ <!ENTITY a '<!--'> ]><a href='§/1'/>",
            "<!DOCTYPE svg [<!-- don't [ -->]><a href='§/1'/><!-- --><a href='§/2'/>",
            "<!DOCTYPE svg [<?it's ]> ?><!ENTITY a '?>'>]><a href='§/1'/>",
            "<![CDATA[<a href='x'/>]]><a href='§/1'/>",
            "<!-- <a href='x'/> --><a href='§/1'/>", "<?a > ?><a href='§/1'/>",
        ]
    )
    func xml(text: String) { expectRewritten(text, kind: .page(.xml)) }

    @Test(
        "stay as they are in the instructions, sections and entities of XML",
        arguments: [
            "<?x <a href='https://shop.example/'/> ?>", "<![CDATA[<a href='https://shop.example/'/>]]>",
            "<!DOCTYPE svg [ <!ENTITY a '<a href=\"https://shop.example/\">'> ]>",
            "<!--><a href='https://shop.example/'>-->",
        ]
    )
    func unchangedXML(text: String) { expectUnchanged(text, kind: .page(.xml)) }

    @Test("stay as they are in values beyond the limit, and do not stay in memory")
    func limit() {
        let long = "https://shop.example/" + String(repeating: "a", count: 400)
        let rewriting = RewritingOfText(limit: 100)
        for text in [
            "<a href=\(long)>", "<a href=\"\(long)\">", "<p style=\"a: url(\(long))\">",
            "<style>a { b: url(\(long)) }</style>",
            "<meta http-equiv=refresh content=\"0;url=\(long)\">",
        ] {
            let bytes = Array((text + "<a href=https://shop.example/>").utf8)
            let expected = text + "<a href=\(RewritingOfText.shop)/>"
            #expect(String(decoding: rewriting(bytes), as: UTF8.self) == expected)
            var rewriter = BodyRewriter(rewriting.kind, rewriting.links, limit: 100)
            var passed: [UInt8] = []
            for (index, byte) in bytes.enumerated() {
                passed += rewriter.append([byte])
                #expect(index - passed.count <= 116)
            }
            passed += rewriter.finish()
            #expect(String(decoding: passed, as: UTF8.self) == expected)
        }
    }

    @Test("stay as they are in encodings that do not contain ASCII, and are found in those that do")
    func encodings() {
        let text = "<a href=https://shop.example/>"
        let wide: [UInt8] = [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
        #expect(RewritingOfText()(wide) == wide)
        let sixteen: [UInt8] = [0xfe, 0xff] + text.utf8
        #expect(RewritingOfText()(sixteen) == sixteen)
        let latin = [0xe9, 0x3c, 0x61, 0xa0] + Array(" href=https://shop.example/\u{e9}".utf8) + [0xe9, 0x3e]
        #expect(RewritingOfText()(latin).count == latin.count + RewritingOfText.shop.utf8.count - 20)
        #expect(BodyRewriter.Kind(contentType: "text/html; charset=UTF-16LE") == nil)
        #expect(BodyRewriter.Kind(contentType: "Text/HTML;charset=\"iso-8859-1\"") == .page(.html))
        #expect(BodyRewriter.Kind(contentType: "text/css") == .styleSheet)
        #expect(BodyRewriter.Kind(contentType: "image/svg+xml") == .page(.xml))
        #expect(BodyRewriter.Kind(contentType: "text/plain") == nil)
        #expect(BodyRewriter.Kind(contentType: "") == nil)
    }
}
#endif
