import Testing
import WaystationHTTP

@Suite("A rule table")
struct RuleTableTests {
    private func request(_ url: String, method: String = "GET") throws -> RuleRequest {
        RuleRequest(url: try #require(CanonicalURL(url)), method: method)
    }

    @Test func `lets the first rule in order win, however exact the later ones are`() throws {
        let table = try RuleTable([
            RuleDefinition("https://h/a/*/c", action: 0),
            RuleDefinition("https://h/a/b/c", action: 1),
            RuleDefinition("https://h/a/**", action: 2),
            RuleDefinition("*://*/**", action: 3),
            RuleDefinition("https://h/x", action: 4),
        ])
        #expect(try table.match(request("https://h/a/b/c"))?.action == 0)
        #expect(try table.match(request("https://h/a/b/d"))?.action == 2)
        #expect(try table.match(request("https://h/x"))?.index == 3)
        #expect(try table.match(request("https://other/"))?.index == 3)
        #expect(try table.match(request("app://h/")) == nil)
    }

    @Test func `matches nothing when it is empty`() throws {
        let table = try RuleTable([RuleDefinition<Int>]())
        #expect(try table.match(request("https://h/")) == nil)
        #expect(try "\(table.decision(for: request("https://h/")))" == "no rule matched: the table has no rules")
    }

    @Test func `compares the method as Fetch normalises it`() throws {
        let table = try RuleTable([
            RuleDefinition("https://h/", methods: ["get", "PATCH"], action: "a"),
            RuleDefinition("https://h/", methods: [], action: "never"),
        ])
        #expect(try table.match(request("https://h/", method: "Get"))?.action == "a")
        #expect(try table.match(request("https://h/", method: "PATCH"))?.action == "a")
        #expect(try table.match(request("https://h/", method: "patch")) == nil)
        #expect(try table.match(request("https://h/", method: "POST")) == nil)
    }

    @Test func `requires the query items of the pattern and of the rule`() throws {
        let table = try RuleTable([
            RuleDefinition("https://h/?a=1", query: [.present("b"), .equals("c d", "é&")], action: 0)
        ])
        #expect(try table.match(request("https://h/?c%20d=%C3%A9%26&b&a=1"))?.index == 0)
        #expect(try table.match(request("https://h/?c%20d=%C3%A9%26&b&a=2")) == nil)
        #expect(try table.match(request("https://h/?c%20d=%C3%A9%26&a=1")) == nil)
        #expect(try table.match(request("https://h/?a=1&b&c%20d=%C3%A9&")) == nil)
    }

    @Test func `calls the predicate last, with the request and its header fields`() throws {
        let table = try RuleTable([
            RuleDefinition("https://h/**", methods: ["POST"], action: 0) { _ in
                Issue.record("the predicate was called although the method differs")
                return true
            },
            RuleDefinition("https://h/**", action: 1) { $0.field?("Accept") == "image/png" },
        ])
        let url = try #require(CanonicalURL("https://h/x"))
        #expect(table.match(RuleRequest(url: url) { $0 == "Accept" ? "image/png" : nil })?.index == 1)
        #expect(table.match(RuleRequest(url: url) { _ in nil }) == nil)
        #expect(table.match(RuleRequest(url: url)) == nil)
    }

    @Test func `names every invalid rule, with its position`() {
        let error = #expect(throws: RuleTableError.self) {
            try RuleTable([
                RuleDefinition("https://h/", action: 0, fileID: "App/Rules.swift", line: 3),
                RuleDefinition("h/", action: 0, fileID: "App/Rules.swift", line: 4),
                RuleDefinition("https://h/#x", action: 0, fileID: "App/Rules.swift", line: 5),
            ])
        }
        #expect(error?.problems.map(\.index) == [1, 2])
        #expect(error?.problems.first?.location == RuleLocation(fileID: "App/Rules.swift", line: 4))
        #expect(
            error?.description == """
                rule 1 (App/Rules.swift:4): URL pattern not understood: expected `://` after the scheme, as in \
                `https://host/path`
                  h/
                   ^
                rule 2 (App/Rules.swift:5): URL pattern not understood: expected no fragment, since it never reaches a server
                  https://h/#x
                            ^
                """
        )
    }

    @Test func `keeps the source location of the call with a rule`() {
        let rule = RuleDefinition("https://h/", action: 0)
        #expect(rule.location == RuleLocation(fileID: #fileID, line: #line - 1))
    }
}

@Suite("A decision")
struct RuleDecisionTests {
    private func decision(_ rules: [RuleDefinition<Int>], _ url: String, method: String = "GET") throws -> String {
        let request = RuleRequest(url: try #require(CanonicalURL(url)), method: method)
        return "\(try RuleTable(rules).decision(for: request))"
    }

    private func rule(
        _ pattern: String,
        methods: Set<String>? = nil,
        query: [QueryCondition] = [],
        where predicate: (@Sendable (RuleRequest) -> Bool)? = nil
    ) -> RuleDefinition<Int> {
        var rule = RuleDefinition(pattern, methods: methods, query: query, action: 0, where: predicate)
        rule.location = nil
        return rule
    }

    @Test func `names the rule that matched the URL`() throws {
        #expect(
            try decision([rule("https://g/"), rule("https://h/**")], "https://h/x") == "rule 1 `https://h/**` matched"
        )
    }

    @Test func `gives every reason of the closest rules, the closest first`() throws {
        let rules = [
            rule("https://*.far.example/"), rule("app://h/a/**", methods: ["PUT", "POST"]), rule("https://h:*/b/*.png"),
            rule("https://h/a/c?x=1&y", query: [.equals("z", "2")]), rule("https://h:81/a/**") { _ in false },
            rule("https://h/a/**") { _ in false }, rule("https://**.farther.example/"),
        ]
        #expect(
            try decision(rules, "https://h/a/b?x=1") == """
                no rule matched; the closest:
                  rule 5 `https://h/a/**`: its predicate returned false
                  rule 4 `https://h:81/a/**`: port is 443, not 81
                  rule 1 `app://h/a/**`: scheme is https, not app; method is GET, not POST, PUT
                  rule 2 `https://h:*/b/*.png`: path is /a/b, not /b/*.png
                  rule 3 `https://h/a/c?x=1&y`: path is /a/b, not /a/c; query has no y=*; query has no z=2
                """
        )
        #expect(
            try decision([rules[0], rules[6]], "https://h/") == """
                no rule matched; the closest:
                  rule 0 `https://*.far.example/`: host is h, not a sub-domain of far.example
                  rule 1 `https://**.farther.example/`: host is h, not farther.example or a sub-domain of it
                """
        )
    }

    @Test func `prefers the rule whose path has the same beginning, and the earlier of equals`() throws {
        let rules = ["https://h/x", "https://h/a/x", "https://h/a/b/x", "https://h/a/b/y"].map { rule($0) }
        let request = RuleRequest(url: try #require(CanonicalURL("https://h/a/b/c")))
        guard case .unmatched(let closest) = try RuleTable(rules).decision(for: request) else {
            Issue.record("matched")
            return
        }
        #expect(closest.map(\.index) == [2, 3, 1, 0])
        #expect(closest[0].reasons == [.path(expected: "/a/b/x", found: "/a/b/c")])
    }

    @Test func `compares paths without needless escapes, and shows the URL as it is`() throws {
        let rules = ["https://h/x", "https://h/@a/b%2A*", "https://h/@a/%2Ac"].map { rule($0) }
        #expect(
            try decision(rules, "https://h/%40a/c") == """
                no rule matched; the closest:
                  rule 1 `https://h/@a/b%2A*`: path is /%40a/c, not /@a/b%2A*
                  rule 2 `https://h/@a/%2Ac`: path is /%40a/c, not /@a/%2Ac
                  rule 0 `https://h/x`: path is /%40a/c, not /x
                """
        )
    }

    @Test func `is made with the URL of the request, whose percent-encodings predicates see`() throws {
        let rules = [rule("https://h/@a") { $0.url.string.contains("%40") }]
        #expect(try decision(rules, "https://h/%40a") == "rule 0 `https://h/@a` matched")
        #expect(try decision(rules, "https://h/@a").contains("its predicate returned false"))
    }

    @Test func `stays short for many rules and endless URLs`() throws {
        let rules = (0..<100).map { rule("https://h/\($0)") }
        let text = try decision(rules, "https://h/" + String(repeating: "x", count: 100_000))
        #expect(text.split(separator: "\n").count == 6)
        #expect(text.utf8.count < 2_000)
    }
}

@Suite("A server's whitelist")
struct WhitelistTests {
    @Test func `becomes rules, and bad entries do not affect good ones`() throws {
        let (rules, rejected) = RuleDefinition.whitelist(
            [
                "https://h/index.html", "not a url", "https://h/app/", "https://h/img/*.png", "https://h/#/home",
                "https://h/q?x=1", "", "https://i",
            ],
            action: "pack"
        )
        #expect(rejected.map(\.pattern) == ["not a url", "https://h/#/home", ""])
        #expect(rejected.map(\.offset) == [3, 10, 0])
        let table = try RuleTable(rules)
        func index(_ url: String) throws -> Int? {
            table.match(RuleRequest(url: try #require(CanonicalURL(url))))?.index
        }
        #expect(try index("https://h/index.html?v=3") == 0)
        #expect(try index("https://h/index.html/x") == nil)
        #expect(try index("https://h/app/") == 1)
        #expect(try index("https://h/app/a/b?c") == 1)
        #expect(try index("https://h/application") == nil)
        #expect(try index("https://h/img/a.png") == 2)
        #expect(try index("https://h/q?x=1&y") == 3)
        #expect(try index("https://h/q") == nil)
        #expect(try index("https://i") == 4)
        #expect(try index("https://i/x") == nil)
        #expect(rules.allSatisfy { $0.action == "pack" })
    }

    @Test func `matches folders in every spelling`() throws {
        let table = try RuleTable(RuleDefinition.whitelist(["https://h/@scope/"], action: 0).rules)
        for url in ["https://h/%40scope/", "https://h/@scope/a.js", "https://h/%40scope/a.js"] {
            #expect(table.match(RuleRequest(url: try #require(CanonicalURL(url)))) != nil, "\(url)")
        }
    }

    @Test func `makes rules that a table takes, whatever a server sends`() throws {
        let deepest = "https://h" + String(repeating: "/e", count: 255) + "/"
        let tooDeep = "https://h" + String(repeating: "/e", count: 256) + "/"
        let (rules, rejected) = RuleDefinition.whitelist(
            [
                "app://", "https://h/a/", "https://h/b://", "app:///c/", "https://h/*/d/**/", "/", "://", deepest,
                tooDeep,
            ],
            action: 0
        )
        #expect(rejected.map(\.pattern) == ["/", "://", tooDeep])
        let table = try RuleTable(rules)
        func index(_ url: String) throws -> Int? {
            table.match(RuleRequest(url: try #require(CanonicalURL(url))))?.index
        }
        #expect(try index("app:///") == 0)
        #expect(try index("app:///x") == nil)
        #expect(try index("https://h/a/x") == 1)
        #expect(try index("https://h/b:///x") == 2)
        #expect(try index("app:///c/x") == 3)
        #expect(try index("https://h/x/d/x") == 4)
        #expect(try index(deepest + "x/y") == 5)
    }

    @Test func `leaves a URL alone whose query ends in a slash`() {
        #expect(RuleDefinition.whitelist(["https://h/?u=/"], action: 0).rules.map(\.pattern) == ["https://h/?u=/"])
        #expect(
            RuleDefinition.whitelist(["https://h/x/"], methods: ["GET"], action: 0).rules.first?.methods == Set(["GET"])
        )
    }
}
