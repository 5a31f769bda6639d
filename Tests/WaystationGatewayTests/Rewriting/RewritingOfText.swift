#if Gateway
import Foundation

@testable import WaystationGateway

/// Rewrites texts of tests, in which rules take the hosts `shop.example` and `cdn.example`.
struct RewritingOfText {
    /// The gateway's URL for `https://shop.example`.
    static let shop = "http://shop-example.localhost:8080"

    var kind = BodyRewriter.Kind.page(.html)
    var limit = BodyRewriter.limit
    var links = Links(names: LocalNames(port: 8080), scheme: "https") { url in
        ["shop.example", "cdn.example"].contains(URL(string: url)?.host)
    }

    func callAsFunction(_ text: String) -> String { String(decoding: self(Array(text.utf8)), as: UTF8.self) }

    func callAsFunction(_ text: [UInt8]) -> [UInt8] { self([text[...]]) }

    /// Rewrites a text that arrives in parts.
    func callAsFunction(_ parts: [ArraySlice<UInt8>]) -> [UInt8] {
        var rewriter = BodyRewriter(kind, links, limit: limit)
        var result: [UInt8] = []
        for part in parts { result += rewriter.append(part) }
        return result + rewriter.finish()
    }

    /// Rewrites a text whose bytes arrive one after another.
    func byteByByte(_ text: [UInt8]) -> [UInt8] { self(text.indices.map { text[$0...$0] }) }
}
#endif
