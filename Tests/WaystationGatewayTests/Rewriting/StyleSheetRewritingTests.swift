#if Gateway
import Testing

@testable import WaystationGateway

@Suite("The links of a style sheet")
struct StyleSheetRewritingTests {
    private let rewritten = RewritingOfText(kind: .styleSheet)

    @Test(
        "lead to the gateway in every token that is a URL",
        arguments: [
            "a { background: url(#/b.png) }", "a { background: url( #/b.png\n) }", "a { background: URL('#/b.png') }",
            "a { background: url( \"#/b.png\" ) }", "\u{40}import \"#/i.css\" screen;", "\u{40}import/**/ '#/i.css';",
            "\u{40}IMPORT url(#/i.css);", "\u{40}\\69mport '#/i.css';", "a { background: \\75 rl(#/b) }",
            "a { b: u\\52l(#/b) }",
            "/* \" */ a { b: url(#/b) }", "/**/a{b:url(#/b)}/***/", "a { b: 'it\\'s'; c: url(#/c) }",
            "a { b: 'x\\\ny'; c: url(#/c) }",
            "a { b: 'bad\n; c: url(#/c) }", "a { b: url(bad'); c: url(#/c) }", "a { b: url(b\\)c); c: url(#/c) }",
            "a { b: image-set(\"#/1.png\" 1x, url(#/2.png) 2x, '#/3.png' type('https://shop.example/') 3x) \"https://shop.example/\" }",
            "a { --b: url(#/b) }", "<!--url(#/b)-->", "a { b: url(#/end", "a { b: url('#/end", "a { b: 1.url(#/b) }",
            "a { b: url(#/b)url(#/c) }", "\u{40}namespace x 'https://shop.example/'; a { b: url(#/b) }",
            "a { src: url('#/a') format('https://shop.example'), url(#/b) }", "a{b:url(#)}", "\\", "a{b:url(#/b\\",
        ]
    )
    func followed(text: String) {
        let before = text.replacing("#", with: "https://shop.example")
        let after = text.replacing("#", with: RewritingOfText.shop)
        #expect(rewritten(before) == after)
    }

    @Test("are found when they are written with escapes")
    func escapes() {
        #expect(rewritten("a{b:url(https\\3a //shop\\.example/a\\29)}") == "a{b:url(\(RewritingOfText.shop)/a\\29)}")
        #expect(
            rewritten("a{b:url('ht\\\r\ntps:\\2F\\00002fshop.example/')}") == "a{b:url('\(RewritingOfText.shop)/')}"
        )
    }

    @Test("get the scheme of their page if they have none and lead out of the gateway")
    func schemes() {
        #expect(
            rewritten("\u{40}import '//elsewhere.example/i.css'; a { b: url( //elsewhere.example/b) }")
                == "\u{40}import 'https://elsewhere.example/i.css'; a { b: url( https://elsewhere.example/b) }"
        )
        #expect(rewritten("a { b: url(\\2f /elsewhere.example) }") == "a { b: url(https:\\2f /elsewhere.example) }")
    }

    @Test(
        "stay as they are in tokens that are no URL",
        arguments: [
            "/* url(https://shop.example/) */", "a { b: 'url(https://shop.example/)' }",
            "a { b: \"https://shop.example/\" }",
            "a { b: myurl(https://shop.example/) }", "a { b: #url(https://shop.example/) }",
            "a { b: 1url(https://shop.example/) }",
            "a { b: url (https://shop.example/) }", "a { b: url(https://shop.example/ x) }",
            "a { b: url(https://shop.example/\"') }",
            "a { b: url(\nx https://shop.example/) }", "a { b: url('https://shop.example/\n') }",
            "/* url(https://shop.example/)",
            "\u{40}namespace 'https://shop.example/';", "\u{40}namespace x url(https://shop.example/);",
            "\u{40}import-x 'https://shop.example/';", "\u{40}import a 'https://shop.example/';",
            "\u{40} import 'https://shop.example/';",
            "\u{40}/**/import 'https://shop.example/';", "a { b: url(b\\\n; c: url(https://shop.example/) }",
            "a { b: url(/b) url(data:https://shop.example/) }", "a { b: image-set(f('https://shop.example/')) }",
        ]
    )
    func unchanged(text: String) { #expect(rewritten(text) == text) }
}
#endif
