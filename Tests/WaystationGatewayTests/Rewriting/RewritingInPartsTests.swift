#if Gateway
import Foundation
import Testing
import WaystationTestSupport

@testable import WaystationGateway

@Suite("A body that arrives in parts", .timeLimit(.minutes(10)))
struct RewritingInPartsTests {
    /// A page with every construct that the scanner knows.
    static let page = """
        \u{feff}<!doctype html><html manifest=https://shop.example/m><!-- a -- b --!><!--><!---->
        <base href="https://shop.example/"><title>a</tit</title><meta content="0 ; url = 'https://shop.example/n'" http-equiv=refresh>
        <meta http-equiv=content-security-policy content="img-src https://shop.example/a https://cdn.example">
        <style>/* c **/ \u{40}import "https://shop.example/i.css"; a { b: url( https://shop.example/b\\29 \r\n ) 'x\\
        y' u\\52\r\nl("https\\3a\r\n//cdn.example/") image-set('https://cdn.example/' 1x) <!--url(https://cdn.example/)--> }</styl</style>
        <script src=//cdn.example/s.js><!-- <script> </script> <script></script> --> </script x>
        <img alt='<' srcset="https://shop.example/1 1x, h&#116;tps://shop.example/2 (a,b) 2x," src = h\tttps:\\\\shop.example\\x>
        <div style='background:url(&quot;https://shop.example/b&quot;)' ping="https://shop.example/ https://cdn.example/">
        <svg><title><b></title><![CDATA[ <a href=https://shop.example/> ]]]><style>a{b:url(https://shop.example/\\41 )}</style>
        <use xlink:href="https://shop.example/#i"/></svg><math><annotation-xml encoding="text/html"><style></math></style>
        <a href=https://shop.example/?a&amp;b&ampc=1&#47 href=x>caf\u{e9}</a/x=y></ bogus><?php > ?><![CDATA[ >
        <textarea><a href=https://shop.example/></textarea><a href="https://elsewhere.example/">< a<
        """

    static let styleSheet = """
        \u{40}charset "utf-8"; \u{40}import/**/url(https://shop.example/i); \u{40}namespace "https://shop.example/";
        a:b\\:c > #url(x) { b: 1url(x) url('https://shop.example/\\'x\\\r\n') url(bad ' \\) \\
        ) '\\2f\r\n bad
        ; c: u\\000052 l(  https\\00003a\r\n//cdn.example/  ) } --x:url(https\\:\\/\\/shop.example/)
        """

    @Test("gives the same result wherever it is split, and byte by byte", arguments: [BodyRewriter.limit, 24])
    func splits(limit: Int) {
        let doctype = "<?xml?><!DOCTYPE html [<!-- ' --><?a ' ?><!ENTITY a '>'>]>"
        let xml = Self.page.replacing("<!doctype html>", with: doctype)
        let bodies: [(BodyRewriter.Kind, String)] = [
            (.page(.html), Self.page), (.page(.xml), xml), (.styleSheet, Self.styleSheet),
        ]
        for (kind, body) in bodies {
            let rewriting = RewritingOfText(kind: kind, limit: limit)
            let bytes = Array(body.utf8)
            let whole = rewriting(bytes)
            #expect(whole != bytes)
            for split in 0...bytes.count {
                guard rewriting([bytes[..<split], bytes[split...]]) != whole else { continue }
                Issue.record("\(kind) split at \(split) differs")
            }
            #expect(rewriting.byteByByte(bytes) == whole)
        }
    }

    @Test("of arbitrary bytes, or damaged, gives the same result however it is split, and not much more than it was")
    func damage() {
        var random = SeededGenerator(seed: 14)
        let pieces = [
            "<", ">", "/", "\"", "'", "=", "-", "--", "!", "&", "\\", "(", ")", " ", "\n", "\r", "]]>", "<!--", "-->",
            "<![CDATA[", "</style>", "<style>", "<script>", "</script>", "<svg>", "</svg>", "<a href=", "url(",
            "\u{40}import ", "https://shop.example/", "//cdn.example", "<meta http-equiv=refresh content=", "0;url=",
            " srcset=", " style=", "\0", "\u{e9}", "&#x68;ttps:", "\\68 ttps:", "<title>", "<noscript>", "?", "[", "<!",
            "image-set(", "<math>", "<mi>", "<base href=",
        ].map { Array($0.utf8) }
        let seeds = [Self.page, Self.styleSheet].map { Array($0.utf8) }
        for round in 0..<Self.rounds {
            var bytes: [UInt8]
            if round % 2 == 0 {
                bytes = seeds[round / 2 % 2]
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let start = Int.random(in: 0...bytes.count, using: &random)
                    let end = min(bytes.count, start + Int.random(in: 0...20, using: &random))
                    bytes.replaceSubrange(start..<end, with: pieces.randomElement(using: &random) ?? [])
                }
            } else {
                bytes = []
                for _ in 0..<Int.random(in: 1...60, using: &random) {
                    if Int.random(in: 0..<8, using: &random) == 0 {
                        bytes.append(UInt8.random(in: 0...255, using: &random))
                    } else {
                        bytes += pieces.randomElement(using: &random) ?? []
                    }
                }
            }
            let kinds: [BodyRewriter.Kind] = [.page(.html), .page(.xml), .styleSheet]
            let rewriting = RewritingOfText(
                kind: kinds[round % 3],
                limit: round % 5 == 0 ? 16 : BodyRewriter.limit
            )
            let whole = rewriting(bytes)
            // A URL has at least nine bytes, and its replacement, or its addition to a policy, at most forty more.
            #expect(whole.count <= bytes.count * 6)
            var parts: [ArraySlice<UInt8>] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...9, using: &random))
                parts.append(bytes[start..<end])
                start = end
            }
            if rewriting(parts) != whole {
                Issue.record("differs when split: \(String(decoding: bytes, as: UTF8.self))")
            }
            var unserved = rewriting
            unserved.links = Links(names: LocalNames(port: 8080), scheme: "http") { _ in false }
            if round % 4 == 0, !String(decoding: bytes, as: UTF8.self).lowercased().contains("policy") {
                #expect(unserved(bytes) == bytes)
            }
        }
    }

    private static let rounds = ProcessInfo.processInfo.environment["WAYSTATION_LINK_ROUNDS"].flatMap(Int.init) ?? 3_000
}
#endif
