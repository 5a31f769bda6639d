import Synchronization
import Testing
import WaystationHTTP

@Suite("The compiled table and a linear matcher")
struct EquivalenceTests {
    private static let labels = ["a", "b", "example", "com", "shop", "x1"]
    private static let segments = ["", "a", "b", "ab", "img", "app", "x.png", "y.png", "a-b"]

    private func host(_ random: inout SeededGenerator) -> String {
        (0..<Int(random.next() % 3 + 1)).map { _ in random.pick(Self.labels) }.joined(separator: ".")
    }

    private func rule(_ random: inout SeededGenerator, _ number: Int, isWide: Bool) -> LinearMatcher.Rule {
        let globs = ["*", "**", "*.png", "a*", "*-*", "**"]
        let depth = Int(random.next() % 4 + 1)
        // Few rules consist of globs only; otherwise the first of them would match every URL and nothing would be
        // compared.
        var path = (0..<depth).map { _ in random.pick(random.next() % 4 == 0 ? globs : Self.segments) }
        if !isWide, random.next() % 3 > 0 { path.insert("n\(number % 500)", at: 0) }
        let prefix = random.pick(["", "", "", "*.", "**."])
        return LinearMatcher.Rule(
            scheme: random.pick(["*", "http", "https"]),
            host: random.next() % 50 == 0 ? "*" : prefix + host(&random),
            port: random.pick(["", "", "", ":*", ":8080"]),
            path: path,
            item: random.next() % 8 == 0 ? random.pick(["a=1", "b=2"]) : nil,
            methods: random.next() % 8 == 0 ? ["POST"] : nil
        )
    }

    private func target(_ random: inout SeededGenerator) -> LinearMatcher.Target {
        let scheme = random.pick(["http", "https"])
        var path = (0..<Int(random.next() % 5 + 1)).map { _ in random.pick(Self.segments) }
        if random.next() % 3 > 0 { path.insert("n\(random.next() % 500)", at: 0) }
        return LinearMatcher.Target(
            scheme: scheme,
            host: host(&random),
            port: random.pick([scheme == "http" ? 80 : 443, 8080, 81]),
            path: path,
            items: random.pick([[], ["a=1"], ["c=3", "b=2"], ["b=2", "a=1"]]),
            method: random.pick(["GET", "POST"])
        )
    }

    @Test("decide the same", arguments: [(1, 30, true), (2, 100, true), (3, 1_000, false), (4, 10_000, false)])
    func agree(seed: Int, count: Int, isWide: Bool) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let rules = (0..<count).map { rule(&random, $0, isWide: isWide) }
        let linear = LinearMatcher(rules: rules)
        let table = try RuleTable(rules.map { RuleDefinition($0.pattern, methods: $0.methods, action: $0.pattern) })
        var indices: Set<Int?> = []
        for _ in 0..<(count > 1_000 ? 150 : 1_500) {
            let target = target(&random)
            let url = try #require(CanonicalURL(target.url))
            let expected = linear.firstMatch(target)
            let request = RuleRequest(url: url, method: target.method)
            #expect(table.match(request)?.index == expected, "\(target)")
            if let expected { #expect(table.patterns[expected].matches(url), "\(target)") }
            indices.insert(expected)
        }
        // The comparison is meaningful only if many different rules win, and some URLs match none.
        #expect(indices.count > 3)
        #expect(indices.contains(nil))
    }

    @Test func `agree for 10,000 hosts and for 10,000 paths of one host`() throws {
        let hosts = try RuleTable((0..<10_000).map { RuleDefinition("https://h\($0).example/app/**", action: $0) })
        let paths = try RuleTable((0..<10_000).map { RuleDefinition("https://h.example/p\($0)/*.html", action: $0) })
        for number in 0..<10_000 {
            let byHost = try #require(CanonicalURL("https://h\(number).example/app/x"))
            let byPath = try #require(CanonicalURL("https://h.example/p\(number)/x.html"))
            #expect(hosts.match(RuleRequest(url: byHost))?.action == number)
            #expect(paths.match(RuleRequest(url: byPath))?.action == number)
            #expect(hosts.match(RuleRequest(url: byPath)) == nil)
        }
    }

    /// Patterns that differ only after their first `**` or within a segment.
    private func globRule(_ random: inout SeededGenerator, _ number: Int) -> LinearMatcher.Rule {
        let name = "f\(random.next() % 400)"
        let path: [String] =
            switch random.next() % 12 {
            case 0: ["**", "\(name).png"]
            case 1: ["**", name, ""]
            case 2: ["**", name, "**"]
            case 3: ["**", "\(name)-*", "**"]
            case 4: ["img", "\(name)-*.png"]
            case 5: ["img", "*-\(name)"]
            case 6: ["img", "thumb-*-\(name).png"]
            case 7: ["img", "\(name)*\(name)"]
            case 8: ["\(name)*", "a", "*", "b"]
            case 9: ["**", "a", "**", name]
            case 10: ["*", "\(name)-*", "*.png"]
            default: number.isMultiple(of: 10) ? ["**", "*-\(random.next() % 9)-*"] : ["img", "**", "*\(name).png"]
            }
        return LinearMatcher.Rule(
            scheme: "https",
            host: random.pick(["h.example", "h.example", "**.example", "*"]),
            port: "",
            path: path,
            item: random.next() % 8 == 0 ? "a=1" : nil,
            methods: random.next() % 8 == 0 ? ["POST"] : nil
        )
    }

    private func globTarget(_ random: inout SeededGenerator) -> LinearMatcher.Target {
        func name() -> String { "f\(random.next() % 400)" }
        func segment() -> String {
            switch random.next() % 10 {
            case 0: "a"
            case 1: "b"
            case 2: "\(name()).png"
            case 3: "\(name())-\(name())"
            case 4: "\(name())-x.png"
            case 5: "thumb-x-\(name()).png"
            case 6: ""
            case 7: "x-\(random.next() % 9)-y"
            default: name()
            }
        }
        var path = (0..<Int(random.next() % 4 + 1)).map { _ in segment() }
        if random.next() % 2 == 0 { path.insert("img", at: 0) }
        // A text that occurs twice must be tried in both places.
        if random.next() % 4 == 0 { path += path }
        return LinearMatcher.Target(
            scheme: "https",
            host: random.pick(["h.example", "w.h.example", "other"]),
            port: 443,
            path: path,
            items: random.pick([[], ["a=1"]]),
            method: random.pick(["GET", "POST"])
        )
    }

    @Test("decide the same for patterns that differ after a glob", arguments: [(5, 40), (6, 400), (7, 4_000)])
    func agreeAfterGlobs(seed: Int, count: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let rules = (0..<count).map { globRule(&random, $0) }
        let linear = LinearMatcher(rules: rules)
        let table = try RuleTable(rules.map { RuleDefinition($0.pattern, methods: $0.methods, action: $0.pattern) })
        var indices: Set<Int?> = []
        for _ in 0..<(count > 1_000 ? 150 : 1_500) {
            let target = globTarget(&random)
            let url = try #require(CanonicalURL(target.url))
            let expected = linear.firstMatch(target)
            #expect(table.match(RuleRequest(url: url, method: target.method))?.index == expected, "\(target)")
            indices.insert(expected)
        }
        #expect(indices.count > 5)
        #expect(indices.contains(nil))
    }

    /// The path with some of the characters percent-encoded that a path may contain as they are.
    private func spelled(_ path: [String], _ random: inout SeededGenerator) -> [String] {
        let codes: [Character: [String]] = [
            "@": ["%40"], "+": ["%2B", "%2b"], "(": ["%28"], ":": ["%3A"], "a": ["%61"],
        ]
        return path.map { segment in
            segment.map { character in
                guard let codes = codes[character], random.next() % 2 == 0 else { return String(character) }
                return random.pick(codes)
            }.joined()
        }
    }

    @Test("decide the same for every spelling of a pattern and of a URL")
    func agreeForSpellings() throws {
        var random = SeededGenerator(seed: 8)
        let segments = ["@a", "a+b", "a", "(a", "b:", "+", ""]
        let globs = ["*", "**", "@*", "*+b", "(*", "*:", "a*+*"]
        func path(_ choices: [String], _ others: [String]) -> [String] {
            (0..<Int(random.next() % 3 + 1)).map { _ in random.pick(random.next() % 3 == 0 ? choices : others) }
        }
        var indices: Set<Int?> = []
        for _ in 0..<30 {
            let rules = (0..<20).map { _ in
                LinearMatcher.Rule(scheme: "https", host: "h", port: "", path: path(globs, segments))
            }
            let linear = LinearMatcher(rules: rules)
            let table = try RuleTable(
                rules.map { rule in
                    var rule = rule
                    rule.path = spelled(rule.path, &random)
                    return RuleDefinition(rule.pattern, action: 0)
                }
            )
            for _ in 0..<50 {
                var target = LinearMatcher.Target(
                    scheme: "https",
                    host: "h",
                    port: 443,
                    path: path(segments, segments),
                    items: random.pick([[], ["a=%40"]]),
                    method: "GET"
                )
                let expected = linear.firstMatch(target)
                target.path = spelled(target.path, &random)
                let url = try #require(CanonicalURL(target.url))
                #expect(table.match(RuleRequest(url: url))?.index == expected, "\(url) in \(table.patterns)")
                if let expected { #expect(table.patterns[expected].matches(url), "\(url)") }
                indices.insert(expected)
            }
        }
        #expect(indices.count > 10)
        #expect(indices.contains(nil))
    }

    @Test(
        "agree for 10,000 rules that differ after a glob",
        arguments: [
            ("**/file#.png", "a/b/file#.png"), ("img/n#-*.png", "img/n#-x.png"), ("img/*-#.png", "img/x-#.png"),
            ("**/p#/**", "a/p#/b"), ("**/n#-*/*.html", "a/n#-x/y.html"), ("*.d/v#/**", "x.d/v#/y"),
        ]
    )
    func tenThousand(pattern: String, path: String) throws {
        func filled(_ text: String, _ number: Int) -> String {
            "https://h.example/"
                + text.split(separator: "#", omittingEmptySubsequences: false).joined(separator: "\(number)")
        }
        let table = try RuleTable((0..<10_000).map { RuleDefinition(filled(pattern, $0), action: $0) })
        for number in stride(from: 0, to: 10_000, by: 7) {
            let url = try #require(CanonicalURL(filled(path, number)))
            #expect(table.match(RuleRequest(url: url))?.action == number)
        }
        let unknown = try #require(CanonicalURL(filled(path, 10_000)))
        #expect(table.match(RuleRequest(url: unknown)) == nil)
    }

    @Test func `a predicate is called once, however often the path contains its text`() throws {
        let asked = Mutex(0)
        let table = try RuleTable([
            RuleDefinition("https://h.example/**/a/**", action: 0) { _ in
                asked.withLock { $0 += 1 }
                return false
            }
        ])
        let url = try #require(CanonicalURL("https://h.example/a/b/a/a/"))
        #expect(table.match(RuleRequest(url: url)) == nil)
        #expect(asked.withLock { $0 } == 1)
    }
}
