import Testing

@testable import WaystationHTTP

@Suite("The choice which items of a query a key has")
struct QueryChoiceTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let ignored: [String]
        let isSorted: Bool
        let url: String
        let expected: String

        init(_ ignored: [String], _ query: String, _ expected: String, isSorted: Bool = false) {
            (self.ignored, self.isSorted) = (ignored, isSorted)
            (url, self.expected) = ("https://a.example/b" + query, "https://a.example/b" + expected)
        }

        var testDescription: String { "\(ignored)\(isSorted ? ", sorted" : ""): \(url) → \(expected)" }
    }

    @Test(
        "changes a URL",
        arguments: [
            Row([], "?b=1&a=2", "?b=1&a=2"),
            Row(["a"], "", ""),
            Row(["a"], "?", "?"),
            Row(["a"], "?a=1", ""),
            Row(["a"], "?a", ""),
            Row(["a"], "?b=1&a=2&c=3&a=4", "?b=1&c=3"),
            Row(["a"], "?A=1&aa=2", "?A=1&aa=2"),
            // The name is decoded, and what is left keeps its spelling.
            Row(["a b"], "?a+b=1&a%20b=2&c=%7e", "?c=%7e"),
            Row(["a"], "?%61=1&b=2", "?b=2"),
            Row(["utm_*"], "?utm_source=1&utm_=2&utm=3&xutm_=4", "?utm=3&xutm_=4"),
            Row(["utm_*", "fbclid"], "?q=1&fbclid=2&utm_medium=3", "?q=1"),
            Row(["*"], "?a=1&b", ""),
            Row(["*"], "?", ""),
            Row([], "?b=1&a=2", "?a=2&b=1", isSorted: true),
            Row([], "?b=2&a=1&b=1&%61=0", "?a=1&%61=0&b=2&b=1", isSorted: true),
            Row(["a"], "?c=1&a=2&b=3", "?b=3&c=1", isSorted: true),
            Row([], "?", "?", isSorted: true),
            // Names that are only canonically equivalent are different.
            Row(["\u{E9}"], "?e%CC%81=1&%C3%A9=2", "?e%CC%81=1"),
        ]
    )
    func changes(_ row: Row) {
        let choice = QueryChoice(ignoring: row.ignored, isSorted: row.isSorted)
        #expect(choice.applied(to: row.url) == row.expected)
        // A key is the same whether it is made once or twice.
        #expect(choice.applied(to: row.expected) == row.expected)
    }

    @Test("names what it leaves out")
    func names() {
        let choice = QueryChoice(ignoring: ["utm_*", "a"])
        #expect(choice.namesIgnored(in: "/b?utm_source=1&c=2&a=3&utm_source=4") == ["utm_source", "a"])
        #expect(choice.namesIgnored(in: "/b?c=2").isEmpty)
        #expect(choice.namesIgnored(in: "/b").isEmpty)
    }
}
