import Testing

@testable import WaystationHTTP

@Suite("Warnings about rules")
struct RuleWarningTests {
    private func rule(
        _ pattern: String,
        methods: Set<String>? = nil,
        query: [QueryCondition] = [],
        where predicate: (@Sendable (RuleRequest) -> Bool)? = nil
    ) -> RuleDefinition<Int> {
        RuleDefinition(
            pattern,
            methods: methods,
            query: query,
            action: 0,
            fileID: "App/Rules.swift",
            line: 7,
            where: predicate
        )
    }

    private func warnings(_ rules: RuleDefinition<Int>...) throws -> [RuleWarning] { try RuleTable(rules).warnings() }

    private func unreachable(_ rules: RuleDefinition<Int>...) throws -> [Int] {
        try RuleTable(rules).warnings().filter { $0.kind == .unreachable }.map(\.rule)
    }

    @Test func `name a rule that an earlier one makes unreachable, and both source locations`() throws {
        let found = try warnings(rule("https://h/**"), rule("https://g/"), rule("https://h/app/*.png"))
        #expect(
            found.map(\.description) == [
                """
                rule 2 `https://h/app/*.png` (App/Rules.swift:7): the rule is never reached, since rule 0 \
                `https://h/**` (App/Rules.swift:7) matches every request that this rule matches; put it before that \
                rule, or remove it
                """
            ]
        )
        #expect(found.first?.kind == .unreachable)
        #expect(found.first?.location == RuleLocation(fileID: "App/Rules.swift", line: 7))
    }

    @Test(
        "find a pattern that an earlier pattern covers",
        arguments: [
            ("https://h/**", "https://h/"), ("https://h/a", "https://H:443/%61"), ("*://h/**", "https://h/a"),
            ("*://*/**", "http://a.example/x?y=1"), ("https://*.example/**", "https://*.a.example/x/**"),
            ("https://*.example/**", "https://**.a.example/"), ("https://**.example/**", "https://example/"),
            ("https://**.example/**", "https://*.example/a*"), ("https://h:*/**", "https://h:81/a"),
            ("*://h:443/**", "https://h/a"), ("https://h/a/**", "https://h/a"), ("https://h/a/**", "https://h/a/**"),
            ("https://h/**/b/**", "https://h/x/**/b/c"), ("https://h/*", "https://h/a*"),
            ("https://h/a*c", "https://h/a*b*c"), ("https://h/*.png", "https://h/a.png"),
            ("https://h/**/*.png", "https://h/x/y*.png"), ("https://h/**?a", "https://h/x?b=2&a=1"),
            ("https://h/**?a=1", "https://h/x?a=1"), ("app://*/**", "app:///x"),
            ("https://h/%40a/**", "https://h/@a/b*"), ("https://h/a*b", "https://h/a%2Ab"),
        ]
    )
    func covered(wide: String, narrow: String) throws {
        #expect(try unreachable(rule(wide), rule(narrow)) == [1])
    }

    @Test(
        "say nothing about a pattern that matches a request of its own",
        arguments: [
            ("https://h/a", "https://h/b"), ("https://h/**", "http://h/"), ("https://h/**", "*://h/"),
            ("https://*.example/**", "https://example/"), ("https://*.example/**", "https://**.example/"),
            ("https://example/**", "https://*.example/"), ("https://*.example/**", "https://badexample/"),
            ("https://h/**", "https://*/"), ("https://h/**", "https://h:81/"), ("https://h:81/**", "https://h/"),
            ("*://h/**", "*://h:443/"), ("*://h:443/**", "*://h/"), ("https://h/*", "https://h/**"),
            ("https://h/a/*", "https://h/a"), ("https://h/a*c", "https://h/a*"), ("https://h/a*", "https://h/*"),
            ("https://h/*b*", "https://h/a*c"), ("https://h/**/b", "https://h/**"),
            ("https://h/a/**/b", "https://h/a/**"),
            ("https://h/**?a=1", "https://h/**?a"), ("https://h/?a", "https://h/"),
            ("https://h/a/b/*", "https://h/a/*/b"),
            ("https://h/x/**", "https://h/**/x/y"), ("https://h/a%2Ab", "https://h/a*b"),
            ("https://h/a%2A*", "https://h/a*"),
        ]
    )
    func notCovered(first: String, second: String) throws {
        #expect(try unreachable(rule(first), rule(second)) == [])
    }

    @Test func `take methods, query items and predicates into account`() throws {
        let all = "https://h/**"
        #expect(try unreachable(rule(all, methods: ["GET"]), rule(all)) == [])
        #expect(try unreachable(rule(all, methods: ["get", "POST"]), rule(all, methods: ["GET"])) == [1])
        #expect(try unreachable(rule(all, methods: ["GET"]), rule(all, methods: ["GET", "POST"])) == [])
        #expect(try unreachable(rule(all, query: [.present("a")]), rule(all)) == [])
        #expect(try unreachable(rule(all, query: [.present("a")]), rule(all, query: [.equals("a", "1")])) == [1])
        #expect(try unreachable(rule(all) { _ in true }, rule(all)) == [])
        #expect(try unreachable(rule(all), rule(all) { _ in true }) == [1])
    }

    @Test func `name the first rule that covers the unreachable one`() throws {
        let found = try warnings(
            rule("https://h/b"),
            rule("https://h/a/**"),
            rule("*://**.h/**"),
            rule("*://*/**"),
            rule("https://h/a/b")
        )
        #expect(found.map(\.rule) == [4])
        #expect(found.first?.message.contains("rule 1 `https://h/a/**`") == true)
    }

    @Test func `name a rule that has an empty set of methods`() throws {
        let found = try warnings(rule("https://h/", methods: []))
        #expect(found.map(\.kind) == [.noMethods])
    }

    @Test(
        "suggest the probable meaning of a pattern without a path, and of `/*`",
        arguments: [
            ("https://api.example.com", "https://api.example.com/**"),
            ("https://api.example.com:8080?x=1", "https://api.example.com:8080/**?x=1"),
            ("*://*.example", "*://*.example/**"), ("https://h/*", "https://h/**"), ("https://h/*?x", "https://h/**?x"),
            ("app://main", "app://main/**"),
        ]
    )
    func narrow(pattern: String, meant: String) throws {
        let found = try warnings(rule(pattern))
        #expect(found.map(\.kind) == [.narrowPath])
        #expect(found.first?.message.contains("write `\(meant)` for every page of the host") == true)
        // The suggestion is valid, matches more, and causes no warning.
        #expect(try warnings(rule(meant), rule(pattern)).map(\.kind) == [.unreachable, .narrowPath])
        #expect(try warnings(rule(meant)) == [])
    }

    @Test(
        "name a bracket that is not closed",
        arguments: ["https://h/img/[a-z.png", "https://h/?ids[=1", "https://h/[a]/[b", "https://[::1]/x["]
    )
    func unclosedBracket(pattern: String) throws {
        #expect(try warnings(rule(pattern)).map(\.kind) == [.unclosedBracket])
    }

    @Test(
        "say nothing about patterns that mean what they seem to mean",
        arguments: [
            "https://h/", "https://h/**", "https://h/a/*", "https://h/*.png", "https://[::1]/", "https://h/?ids[]=1",
            "https://h/[slug].js", "https://h/]", "*://*/**", "app:///x", "https://h/%5B", "https://h/\u{301}/a",
        ]
    )
    func silent(pattern: String) throws {
        #expect(try warnings(rule(pattern)) == [])
    }

    @Test func `show a pattern of a server without its control characters`() throws {
        let found = try warnings(rule("https://h/\u{202E}["))
        #expect(found.first?.description.contains("\u{202E}") == false)
    }

    @Test func `are never about a rule that some request reaches`() throws {
        var random = SeededGenerator(seed: 11)
        let words = ["a", "b", "ab"]
        let globs = ["*", "**", "a*", "*b", "*a*"]
        var unreachable = 0
        for _ in 0..<300 {
            let rules = (0..<6).map { _ in
                let path = (0..<Int(random.next() % 3 + 1)).map { _ in
                    random.pick(random.next() % 2 == 0 ? globs : words)
                }
                let address = [
                    random.pick(["*", "https"]), "://", random.pick(["", "", "*.", "**."]), random.pick(["h", "a.h"]),
                    random.pick(["", "", ":*", ":443"]), "/", path.joined(separator: "/"),
                    random.pick(["", "", "?a", "?a=1"]),
                ]
                return rule(address.joined(), methods: random.next() % 4 == 0 ? ["GET"] : nil)
            }
            let table = try RuleTable(rules)
            let named = Set(table.warnings().filter { $0.kind == .unreachable }.map(\.rule))
            unreachable += named.count
            for _ in 0..<100 {
                let path = (0..<Int(random.next() % 4 + 1)).map { _ in random.pick(words + [""]) }
                let address = [
                    random.pick(["http", "https"]), "://", random.pick(["h", "a.h", "b.a.h"]),
                    random.pick(["", ":443", ":81"]),
                    "/", path.joined(separator: "/"), random.pick(["", "?a", "?a=1"]),
                ]
                let url = try #require(CanonicalURL(address.joined()))
                let match = table.match(RuleRequest(url: url, method: random.pick(["GET", "POST"])))
                if let match { #expect(!named.contains(match.index), "\(url) reaches \(rules.map(\.pattern))") }
            }
        }
        #expect(unreachable > 40)
    }

    @Test func `are found among ten thousand rules, the last of which is covered`() throws {
        let many = (0..<10_000).map { rule("https://h/app/p\($0)/*.html") }
        let found = try RuleTable(many + [rule("https://h/app/p5000/a.html")]).warnings()
        #expect(found.map(\.rule) == [10_000])
    }

    @Test(
        "know whether a pattern matches a URL below a base",
        arguments: [
            ("https://h/**", "https://h/app/", true), ("https://h/app/**", "https://h/app/", true),
            ("https://h/app/x/*.png", "https://h/app/", true), ("https://h/app/**", "https://h/", true),
            ("https://h/app", "https://h/app/", true), ("*://*.h/**/b/c", "https://a.h/a/b", true),
            ("https://h/a*/**/c", "https://h/ab/x/", true), ("https://h/", "https://h/", true),
            ("https://h/@a/**", "https://h/%40a/", true), ("https://h/%2A/**", "https://h/*/", true),
            ("https://h/other/**", "https://h/app/", false), ("https://h/app/**", "http://h/app/", false),
            ("https://h/app/**", "https://g/app/", false), ("https://h:81/app/**", "https://h/app/", false),
            ("https://h/", "https://h/app/", false), ("https://h/*", "https://h/a/b/", false),
            ("https://h/App/**", "https://h/app/", false), ("https://h/a*/**", "https://h/b/", false),
        ]
    )
    func below(pattern: String, base: String, isTaken: Bool) throws {
        #expect(try URLPattern(pattern).takesSomething(below: #require(CanonicalURL(base))) == isTaken)
    }
}
