import Foundation
import Testing
import WaystationTestSupport

@Suite("waystation gateway --check", .timeLimit(.minutes(20)))
struct RulesCheckTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let rules = """
        [cache]
        directory = "cache"

        [packs]
        directory = "packs"

        [[rule]]
        url = "https://docs.example/**"
        via = ["files", "nowhere"]
        directory = "site"
        at = "https://docs.example/"

        [[rule]]
        url = "https://shop.example/**"
        via = ["pack", "cache"]
        strategy = "standard"
        """

    @Test("accepts a right file, warns of what is probably not meant, and makes no directory")
    func right() throws {
        try tool.write(["kiosk/rules.toml": Self.rules, "kiosk/site/index.html": "<p>"])
        let outcome = try tool.run("gateway", "--rules", "kiosk/rules.toml", "--check")
        #expect(outcome.errors == "")
        #expect(
            outcome.output == """
                warning: no pack is installed in DIR/kiosk/packs: install one by `waystation pack install`
                kiosk/rules.toml: 2 rules, no mistakes

                """
        )
        #expect(outcome.status == 0)
        #expect(Set(try #require(tool.tree("kiosk")?.keys)) == ["rules.toml", "site", "site/index.html"])
    }

    private static let archive = """
        WARC/1.1\r
        WARC-Type: response\r
        WARC-Date: 2026-03-01T12:00:00Z\r
        WARC-Target-URI: https://docs.example/page\r
        Content-Length: 46\r
        \r
        HTTP/1.1 200 OK\r
        Content-Length: 8\r
        \r
        the page\r
        \r

        """

    @Test("accepts a web archive in place of rules, and as a source of a rule")
    func webArchive() throws {
        try tool.write([
            "site.warc": Self.archive,
            "text.warc": "a text",
            "k.toml": """
            [[rule]]
            url = "https://docs.example/**"
            via = "archive"
            archive = "site.warc"
            as-of = "2026-03-01"
            """,
            "wrong.toml": """
            [[rule]]
            url = "https://docs.example/**"
            via = ["archive", "network"]
            archive = "text.warc"
            as-of = "yesterday"

            [[rule]]
            url = "https://shop.example/**"
            via = "archive"
            """,
        ])
        let alone = try tool.run("gateway", "--archive", "site.warc", "--as-of", "2026-03-01", "--check")
        #expect(alone.output.hasSuffix("site.warc: 1 rule, no mistakes\n"), "\(alone)")
        #expect(alone.status == 0)
        let rule = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(rule.output == "k.toml: 1 rule, no mistakes\n")
        let wrong = try tool.run("gateway", "--rules", "wrong.toml", "--check")
        #expect(wrong.status == 1)
        #expect(wrong.output.contains("`as-of` is \"yesterday\"; expected a time, such as"))
        #expect(wrong.output.contains("the source \"archive\" needs a file, such as `archive = \"site.wacz\"`"))
        let text = try tool.run("gateway", "--archive", "text.warc", "--check")
        #expect(text.errors.contains("text.warc is neither HAR (JSON) nor WARC nor WACZ"))
        for arguments in [
            ["gateway", "--check"], ["gateway", "--rules", "k.toml", "--archive", "site.warc"],
            ["gateway", "--rules", "k.toml", "--as-of", "2026"], ["gateway", "--archive", "a", "--as-of", "yesterday"],
            ["gateway", "--archive", "site.warc", "--cache", "cache"],
        ] {
            #expect(try tool.run(arguments).status == 64, "\(arguments)")
        }
    }

    @Test("refuses a file that is too large to be one of rules")
    func largeFile() throws {
        try SparseFile.make(at: tool.folder.appending(path: "large.toml"))
        let outcome = try tool.run("gateway", "--rules", "large.toml", "--check")
        #expect(outcome.status == 4)
        #expect(outcome.errors == "Error: large.toml has more than 4194304 bytes: a rules file may not\n")
    }

    @Test("changes nothing in a directory of packs, installed or empty")
    func packs() throws {
        try tool.write([
            "k.toml": Self.rules.replacing(
                "via = [\"files\", \"nowhere\"]\ndirectory = \"site\"\nat = \"https://docs.example/\"",
                with: "via = \"network\""
            )
        ])
        try FileManager.default.createDirectory(
            at: tool.folder.appending(path: "packs"),
            withIntermediateDirectories: true
        )
        let empty = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(empty.status == 0)
        #expect(empty.output.contains("warning: no pack is installed in DIR/packs"))
        #expect(try tool.tree("packs")?.isEmpty == true)
        try tool.buildPack("1.4", files: 1)
        #expect(try tool.run("pack", "install", "1.4.zip", "--in", "packs").status == 0)
        let installed = try tool.tree("packs")
        let checked = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(checked.output == "k.toml: 2 rules, no mistakes\n")
        #expect(try tool.tree("packs") == installed)
    }

    @Test("takes the options of the command line for missing keys")
    func surroundings() throws {
        let text = "[[rule]]\nurl = \"https://a.example/**\"\nvia = [\"pack\", \"cache\"]\nstrategy = \"standard\"\n"
        try tool.write(["k.toml": text])
        #expect(try tool.run("gateway", "--rules", "k.toml", "--check").status == 1)
        let given = try tool.run("gateway", "--rules", "k.toml", "--check", "--packs", "p", "--cache", "c")
        #expect(given.status == 0, "\(given.output)")
        #expect(try tool.tree("")?.keys.sorted() == ["k.toml"])
    }

    @Test("prints each mistake with its line and a mark, and has exit code 1")
    func wrong() throws {
        try tool.write([
            "k.toml": "[gateway]\nport = 70000\n\n[[rule]]\nurl = \"https://a.example/**\"\nvia = \"packs\"\n"
        ])
        let outcome = try tool.run("gateway", "--rules", "k.toml", "--check")
        let mistakes = """
            k.toml:2:8: `port` is 70000; expected a number from 1 to 65535, or 0 for any free port
              2 | port = 70000
                |        ^^^^^
            k.toml:6:7: `via` is "packs"; did you mean "pack"?
              6 | via = "packs"
                |       ^^^^^^^

            """
        #expect(outcome.output == mistakes + "k.toml: 2 mistakes\n")
        #expect(outcome.errors == "")
        #expect(outcome.status == 1)
        let started = try tool.run("gateway", "--rules", "k.toml")
        #expect(started.output == "")
        #expect(started.errors == "Error: k.toml has 2 mistakes\n" + mistakes)
        #expect(started.status == 1)
    }

    @Test("has the mistakes as members of its JSON, and the code `invalidRules` when a start was meant")
    func json() throws {
        try tool.write(["k.toml": "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"packs\"\n"])
        let outcome = try tool.run("gateway", "--rules", "k.toml", "--check", "--format", "json")
        #expect(outcome.status == 1)
        #expect(
            outcome.output == #"""
                {"file":"k.toml","problems":[{"column":7,"line":3,"message":"`via` is \"packs\"; did you mean \"pack\"?"}],"rules":0,"warnings":[]}

                """#
        )
        let started = try tool.run("gateway", "--rules", "k.toml", "--format", "json")
        let error = try #require(try object(started.errors)["error"] as? [String: String])
        #expect(error["code"] == "invalidRules")
        #expect(error["message"]?.hasPrefix("k.toml has 1 mistake\nk.toml:3:7: ") == true)
    }

    @Test("finds a directory of files that does not exist or is a file, at its place in the rules")
    func directories() throws {
        try tool.write(["k/rules.toml": Self.rules])
        let missing = try tool.run("gateway", "--rules", "k/rules.toml", "--check")
        #expect(missing.output.hasPrefix("k/rules.toml:10:13: the directory DIR/k/site does not exist\n"))
        #expect(missing.status == 1)
        try tool.write(["k/site": "a file"])
        let file = try tool.run("gateway", "--rules", "k/rules.toml", "--check")
        #expect(file.output.hasPrefix("k/rules.toml:10:13: the directory DIR/k/site is not a directory\n"))
    }

    @Test("reports a file that is missing, is a folder or is not text")
    func unreadable() throws {
        let missing = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(missing.errors == "Error: k.toml does not exist: check the path\n")
        let folder = try tool.run("gateway", "--rules", ".", "--check")
        #expect(folder.status == 4)
        #expect(folder.errors == "Error: . is a directory: give the rules file\n")
        #expect(missing.status == 4)
        try Data("a = 1\nb = \"\u{E9}\"\n".utf8.map { $0 }).write(to: tool.folder.appending(path: "utf.toml"))
        try Data([0x61, 0x0A, 0x62, 0xFF, 0x0A]).write(to: tool.folder.appending(path: "k.toml"))
        let binary = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(binary.errors == "Error: k.toml:2: the line is not UTF-8 text: save the file in UTF-8\n")
        #expect(binary.status == 1)
    }

    @Test("accepts the rules that its help shows")
    func help() throws {
        let lines = try tool.run("gateway", "--help").output.split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex(of: "  [gateway]"))
        let rules = lines[first...].prefix { $0.isEmpty || $0.hasPrefix("  ") }
        try tool.write(["k.toml": rules.joined(separator: "\n"), "site/index.html": ""])
        let outcome = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(outcome.output == "k.toml: 1 rule, no mistakes\n")
    }

    @Test("warns of start pages that no rule takes or that a rule blocks, and of rules that are never reached")
    func warnings() throws {
        let text = """
            [gateway]
            start = ["https://a.example/", "https://b.example/", "https://c.example/"]
            [[rule]]
            url = "https://a.example/**"
            via = "network"
            [[rule]]
            url = "https://b.example/**"
            via = "block"
            [[rule]]
            url = "https://a.example/x"
            via = "network"
            """
        try tool.write(["k.toml": text])
        let outcome = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("warning: rule 2 `https://a.example/x` (k.toml:9): "))
        #expect(outcome.output.contains("warning: a rule blocks the start page https://b.example/\n"))
        #expect(outcome.output.contains("warning: no rule takes the start page https://c.example/\n"))
        #expect(outcome.output.hasSuffix("k.toml: 3 rules, no mistakes\n"))
    }
}
