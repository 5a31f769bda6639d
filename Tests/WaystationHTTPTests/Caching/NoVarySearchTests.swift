import HTTPTypes
import Testing

@testable import WaystationHTTP

@Suite("No-Vary-Search")
struct NoVarySearchTests {
    private static func rule(_ value: String) -> NoVarySearch? {
        NoVarySearch(fields(value.split(separator: "\n").map { "No-Vary-Search: \($0)" }.joined(separator: "\n")))
    }

    @Test(
        "is read, and written in one way",
        arguments: [
            ("params", "params"), ("params=?1", "params"), ("key-order", "key-order"),
            ("key-order=?1;x=1, other=(a 1.5);y", "key-order"), ("params=(\"b\" \"a\")", "params=(a,b)"),
            ("params=( \"a\";x  \"b\" )", "params=(a,b)"), ("params=(\"a\")\nkey-order", "key-order;params=(a)"),
            ("params, except=(\"x\")", "params;except=(x)"),
            ("params, key-order, except=(\"x\")", "key-order;params;except=(x)"),
            ("params=(\"%C3%A9+%E6%B0%97\")", "params=(%C3%A9%20%E6%B0%97)"),
            ("params=1, params=(\"a\")", "params=(a)"),
            ("params=(\"utm_source\" \"utm_source\")", "params=(utm_source)"),
            ("params=(\"a,b)\")", "params=(a%2Cb%29)"),
        ]
    )
    func reading(_ value: String, _ text: String) {
        #expect(Self.rule(value)?.text == text)
        #expect(Self.rule(value) == Self.rule(value + ", unknown"))
    }

    @Test(
        "has no effect if it is malformed, has a wrong value, or says that the whole query counts",
        arguments: [
            // The examples of the draft.
            "unknown-key", "key-order=\"not a boolean\"", "params=\"not a boolean or inner list\"",
            "params=(not-a-string)", "params=(\"a\"), except=(\"x\")", "params=(), except=()",
            "params=?0, except=(\"x\")",
            "params, except=(not-a-string)", "params, except=\"not an inner list\"", "params, except=?1",
            "except=(\"x\")", "except=()", "params=?0", "params=()", "key-order=?0",
            // Malformed fields.
            "params=(\"a\"", "params=(\"a\"\"b\")", "params,", "Params", "params=", "params key-order",
            "params=(\"a\",\"b\")",
            "params=?2", "\"params\"", "(params)",
        ]
    )
    func withoutEffect(_ value: String) { #expect(Self.rule(value) == nil) }

    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        let queries: [String]
        let areEqual: Bool

        init(_ rule: String, _ queries: String..., areEqual: Bool = true) {
            (self.rule, self.queries, self.areEqual) = (rule, queries, areEqual)
        }

        var testDescription: String { "\(rule): \(queries) are \(areEqual ? "equal" : "different")" }
    }

    @Test(
        "compares queries",
        arguments: [
            Row("params=(\"a\")", "a=1&b=2", "b=2", "b=2&a", "%61=3&b=2", "b=%32", "b=2&&"),
            Row("params=(\"a\")", "b=1", "b=2", areEqual: false),
            Row("params=(\"a\")", "b=1&c=2", "c=2&b=1", areEqual: false),
            Row("params=(\"a\")", "b=1", "b=1&b=1", areEqual: false),
            Row("params=(\"a\")", "b=1", "B=1", areEqual: false),
            Row("params=(\"\u{65}\")", "e%CC%81=1", "e%CC%81=2", areEqual: false),
            Row("params=(\"%C3%A9\")", "e%CC%81=1", "", areEqual: false),
            Row("params", "a=1", "", "b"),
            Row("params, except=(\"x\")", "x=1&a=1", "b=2&x=1", "x=1"),
            Row("params, except=(\"x\")", "x=1", "x=2", areEqual: false),
            Row("params, except=(\"x\")", "x=1", "", areEqual: false),
            Row("key-order", "a=1&b=2", "b=2&a=1"),
            Row("key-order", "a=1&b=2&a=3", "b=2&a=1&a=3"),
            Row("key-order", "a=1&b=2&a=3", "b=2&a=3&a=1", areEqual: false),
            // The examples of the draft.
            Row("key-order", "a=x", "%61=%78", "a=x&&&&"),
            Row("key-order", "a=%C3%A9", "a=%c3%a9"),
            Row("key-order", "a=%f6", "a=%ef%bf%bd"),
            Row("key-order", "a=", "a"),
            Row("key-order", "a=%20", "a=+", "a=+&"),
        ]
    )
    func comparing(_ row: Row) throws {
        let rule = try #require(Self.rule(row.rule))
        let parts = Set(row.queries.map { rule.comparedPart(of: $0) })
        #expect(parts.count == (row.areEqual ? 1 : row.queries.count))
    }

    @Test("gives keys that belong to the path, and no request has")
    func keys() throws {
        let rule = try #require(Self.rule("params=(\"utm_source\")"))
        func key(_ url: String) -> RequestKey { RequestKey(method: "GET", url: url, partition: "p") }
        #expect(key("https://a.example/b?c=d&utm_source=e").ofSearchRules == key("https://a.example/b#search"))
        #expect(key("https://a.example/b").ofSearchRules == key("https://a.example/b#search"))
        #expect(
            key("https://a.example/b?utm_source=e&c=d").searched(by: rule)
                == key("https://a.example/b#search=params=(utm_source)?c=d")
        )
        #expect(
            key("https://a.example/b?utm_source=e").searched(by: rule)
                == key("https://a.example/b#search=params=(utm_source)")
        )
        // What a rule of the app has added stays.
        #expect(
            key("https://a.example/b?c=d#key=t&body=0").searched(by: rule)
                == key("https://a.example/b#search=params=(utm_source)&key=t&body=0?c=d")
        )
        #expect(key("https://a.example/b?c=d#key=t").ofSearchRules == key("https://a.example/b#search&key=t"))
        #expect(key("https://a.example/b?c=d#key=t").ofSearchRules.isOfSearchRules)
        #expect(key("https://a.example/b#search").isOfSearchRules)
        for (url, answered, additions) in [
            ("https://a.example/b?c=d", "https://a.example/b?c=d", []),
            ("https://a.example/b?c=d#key=t&body=0", "https://a.example/b?c=d", ["key", "body"]),
            ("https://a.example/b#search=params=(a)", "https://a.example/b", []),
            ("https://a.example/b#search=params=(a)?key=d", "https://a.example/b?key=d", []),
            ("https://a.example/b#search=params=(a)&key=t?c=d", "https://a.example/b?c=d", ["key"]),
        ] {
            #expect(key(url).answeredURL == answered)
            #expect(key(url).additions.map(String.init) == additions)
        }
        for url in [
            "https://a.example/b#search=params", "https://a.example/b?search", "https://a.example/b#key=search",
            "https://a.example/search",
        ] { #expect(!key(url).isOfSearchRules) }
    }
}
