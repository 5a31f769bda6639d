import Testing

@testable import WaystationCLI

/// The mistakes of a text, as `line:column message`.
func mistakes(in text: String, beside surroundings: RulesFile.Surroundings = []) -> [String] {
    do throws(RulesFile.Problems) {
        _ = try RulesFile(text, beside: surroundings)
        return []
    } catch {
        return error.problems.map { "\($0.place.line):\($0.place.column) \($0.message)" }
    }
}

@Suite("The mistakes of a rules file")
struct MistakesTests {
    private static let noRules =
        "the file has no rules, so a gateway would refuse every request: add one under `[[rule]]`"
    private static let rule = "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"network\"\n"

    /// A wrong file, and all of its mistakes.
    struct Case: CustomTestStringConvertible, Sendable {
        let text: String
        let mistakes: [String]

        init(_ text: String, _ mistakes: String...) {
            self.text = text
            self.mistakes = mistakes
        }

        var testDescription: String { text }
    }

    private static let keys = [
        Case("", "1:1 the file has no rules, so a gateway would refuse every request: add one under `[[rule]]`"),
        Case(
            "[gatway]\n\(rule)",
            "1:2 `gatway` is not a key of the file: did you mean `gateway`?"
        ),
        Case(
            "[storage]\n\(rule)",
            "1:2 `storage` is not a key of the file: the file may have `gateway`, `authority`, `cache`, `packs`, `header-body` and `rule`"
        ),
        Case(
            "[gateway]\nforwards_unclaimed = true\n\(rule)",
            "2:1 `forwards_unclaimed` is not a key of [gateway]: did you mean `forwards-unclaimed`?"
        ),
        Case(
            "[gateway]\nport = \"8080\"\n\(rule)",
            "2:8 `port` is \"8080\"; expected a number from 1 to 65535, or 0 for any free port, without quotes"
        ),
        Case(
            "[gateway]\nport = 65536\n\(rule)",
            "2:8 `port` is 65536; expected a number from 1 to 65535, or 0 for any free port"
        ),
        Case(
            "[gateway]\n  proxy = 1\nmaximum-connections = 0\n\(rule)",
            "2:11 `proxy` is 1; expected `true` or `false`",
            "3:23 `maximum-connections` is 0; expected a number from 1 to 100000"
        ),
        Case(
            "[gateway]\nstart = [\"https://a.example/\", \"shop\", 3]\n\(rule)",
            "2:32 `start` is \"shop\"; expected the URL of a page, such as \"https://shop.example/\"",
            "2:40 `start` is 3; expected the URL of a page, such as \"https://shop.example/\""
        ),
        Case(
            "[gateway]\nidle-timeout = \"75\"\nmaximum-body = \"1 GB\"\n\(rule)",
            "2:16 `idle-timeout` is \"75\"; expected a time of at least a second, such as \"90s\" or \"15m\"",
            "3:16 `maximum-body` is \"1 GB\"; expected a size such as \"200MB\", \"64KiB\" or 1000"
        ),
        Case(
            "[gateway]\ntunnel-timeout = \"0s\"\ndelivery-timeout = 300\nrequest-timeout = \"0m\"\n\(rule)",
            "2:18 `tunnel-timeout` is \"0s\"; expected a time of at least a second, such as \"90s\" or \"15m\"",
            "3:20 `delivery-timeout` is 300; expected a time of at least a second, such as \"90s\" or \"15m\"",
            "4:19 `request-timeout` is \"0m\"; expected a time of at least a second, such as \"90s\" or \"15m\""
        ),
        Case(
            "[gateway]\ninspector = \"yes\"\nrewrite-links = true\n\(rule)",
            "2:13 `inspector` is \"yes\"; expected `true` or `false`",
            "3:1 `rewrite-links` is not a key of [gateway]: did you mean `rewrites-links`?"
        ),
        Case(
            "[cache]\nmaximum-size = -1\nmaximum-age = 2026-01-01\n\(rule)",
            "2:16 `maximum-size` is -1; expected a size such as \"200MB\", \"64KiB\" or 1000",
            "3:15 `maximum-age` is the date 2026-01-01; expected a time such as \"90s\", \"15m\", \"12h\" or \"30d\""
        ),
        Case(
            "[gateway]\nproxy = true\n[authority]\ndirektory = \"a\"\n\(rule)",
            "4:1 `direktory` is not a key of [authority]: did you mean `directory`?"
        ),
        Case(
            "[authority]\n\(rule)",
            "1:1 `directory` is missing: write `directory = \"authority\"`",
            "1:1 `[authority]` has no effect without a proxy: write `proxy = true` under `[gateway]`, or give --proxy"
        ),
        Case(
            "[authority]\ndirectory = \"a\"\n[gateway]\nproxy = false\n\(rule)",
            "1:1 `[authority]` has no effect without a proxy: write `proxy = true` under `[gateway]`, or give --proxy"
        ),
        Case(
            "[authority]\ndirectory = \"a\"\n[gateway]\nporxy = true\n\(rule)",
            "4:1 `porxy` is not a key of [gateway]: did you mean `proxy`?"
        ),
        Case("[packs]\n\(rule)", "1:1 `directory` is missing: write `directory = \"packs\"`"),
        Case(
            "[packs]\ndirectory = \"\"\n\(rule)",
            "2:13 `directory` is \"\"; expected the path of a directory, such as \"site\""
        ),
        Case(
            "[header-body]\nname = \"a b\"\nencoding = \"base65\"\n\(rule)",
            "2:8 `name` is \"a b\"; expected the name of a header field, such as \"x-body\"",
            "3:12 `encoding` is \"base65\"; did you mean \"base64\"?"
        ),
        Case(
            "gateway = 8080\n\(rule)",
            "1:11 `gateway` is 8080; expected a table under `[gateway]`"
        ),
        Case(
            "[[gateway]]\nport = 1\n\(rule)",
            "1:1 `gateway` is a list of tables; write `[gateway]` in single brackets, once"
        ),
        Case(
            "[rule]\nurl = \"https://a.example/**\"\nvia = \"network\"\n",
            "1:1 `rule` is a table; write each rule under `[[rule]]`, in two brackets"
        ),
    ]

    private static let rules = [
        Case(
            "[[rule]]\nvia = \"network\"\n",
            "1:1 `url` is missing: write the pattern of the URLs, such as `url = \"https://shop.example/**\"`"
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\n",
            "1:1 `via` is missing: write where the answers come from, such as `via = \"pack\"`"
        ),
        Case(
            "[[rule]]\nurl = \"https:/a.example/**\"\nvia = \"network\"\n",
            "2:13 `url`: expected `://` after the scheme, as in `https://host/path`"
        ),
        Case(
            "[[rule]]\nurl = [\"https://a.example/**\", \"https://b.*.example/\", 7, \"\\u0068ttps:/c\"]\nvia = \"network\"\n",
            "2:43 `url`: expected `*` only as the whole host, or as `*.` or `**.` before a domain",
            "2:56 `url` is 7; expected a pattern of URLs, such as \"https://shop.example/**\"",
            "2:70 `url`: expected `://` after the scheme, as in `https://host/path`"
        ),
        Case(
            "[[rule]]\nurl = []\nvia = []\n",
            "2:7 `url` is an empty array; expected a pattern of URLs, such as \"https://shop.example/**\"",
            "3:7 `via` is an empty array; expected at least one source, such as \"network\""
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"packs\"\n",
            "3:7 `via` is \"packs\"; did you mean \"pack\"?"
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"the origin\"\n",
            """
            3:7 `via` is "the origin"; expected "network", "cache", "files", "pack", "archive", "nowhere" or "block"
            """
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = [\"network\", \"pack\"]\n",
            "3:8 `via` names \"network\" before other sources, which would then never be asked: put it last",
            "3:19 the rule uses packs, but the file has no `[packs]`, and --packs is not given"
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = [\"pack\", \"block\"]\n[packs]\ndirectory = \"p\"\n",
            "3:16 `via` names \"block\" beside other sources: a rule blocks requests or answers them"
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = [\"pack\", \"pack\"]\n[packs]\ndirectory = \"p\"\n",
            "3:16 `via` names \"pack\" twice: each source is asked once"
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nmethods = [\"get\"]\nvia = \"network\"\n",
            "3:12 `methods` is \"get\"; expected the name of a method, such as \"GET\""
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"network\"\ntimeout = \"3s\"\n",
            "4:1 `timeout` belongs to the source \"cache\", which `via` of this rule does not name"
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"network\"\ncomment = \"x\"\n",
            "4:1 `comment` is not a key of [[rule]]: [[rule]] may have `url`, `methods` and `via`"
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"files\"\n",
            "1:1 `directory` is missing: the source \"files\" needs the folder of the site, such as `directory = \"site\"`",
            """
            1:1 `at` is missing: the source "files" needs the URL of the folder, such as `at = "https://shop.example/"`
            """
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"files\"\ndirektory = \"site\"\nat = \"a.example\"\n",
            "4:1 `direktory` is not a key of [[rule]]: did you mean `directory`?",
            "5:6 `at` is \"a.example\"; expected a URL without a query, such as \"https://shop.example/app/\""
        ),
    ]

    private static let strategies = [
        Case(
            "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \"standard\"\n",
            "3:7 the rule uses the cache, but the file has no `[cache]` with a `directory`, and --cache is not given"
        ),
        Case(
            "[cache]\ndirectory = \"c\"\n[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\n",
            "3:1 `strategy` is missing: the source \"cache\" needs it, such as `strategy = \"network-first\"`"
        ),
        Case(
            "[cache]\ndirectory = \"c\"\n[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \"stale_while_revalidate\"\n",
            "6:12 `strategy` is \"stale_while_revalidate\"; did you mean \"stale-while-revalidate\"?"
        ),
        Case(
            "[cache]\ndirectory = \"c\"\n[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \"cache-first\"\n",
            "3:1 `maximum-age` is missing: the strategy \"cache-first\" needs it, such as `maximum-age = \"7d\"`"
        ),
        Case(
            "[cache]\ndirectory = \"c\"\n[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \"standard\"\nmaximum-age = \"1d\"\nvalidate-by = \"head\"\n",
            "7:1 `maximum-age` has no effect with the strategy \"standard\": it belongs to \"cache-first\" and \"stale-while-revalidate\"",
            "8:1 `validate-by` has no effect with the strategy \"standard\": it belongs to \"revalidate\""
        ),
        Case(
            "[cache]\ndirectory = \"c\"\n[packs]\ndirectory = \"p\"\n[[rule]]\nurl = \"https://a.example/**\"\nvia = \"pack\"\noverlay = \"revalidat\"\n",
            "8:11 `overlay` is \"revalidat\"; did you mean \"revalidate\"?"
        ),
        Case(
            "[cache]\ndirectory = \"c\"\n[packs]\ndirectory = \"p\"\n[[rule]]\nurl = \"https://a.example/**\"\nvia = \"pack\"\noverlay = { strategy = \"network-first\", timeout = 3, limit = 1 }\n",
            "8:51 `timeout` is 3; expected a time such as \"90s\", \"15m\", \"12h\" or \"30d\"",
            "8:54 `limit` is not a key of `overlay`: `overlay` may have `strategy`, `maximum-age`, `timeout`, `validate-by` and `check-digests`"
        ),
    ]

    private static let syntax = [
        Case(
            "[gateway]\nproxy = yes\n\(rule)",
            "2:9 `yes` is not a value of TOML: write `true`"
        ),
        Case(
            "[[rule]]\nurl = https://a.example/**\nvia = pack\n",
            "2:7 `https://a.example/**` is not a number, a date, `true` or `false`: write text in quotes, as in \"https://a.example/**\"",
            "3:7 `pack` is not a number, a date, `true` or `false`: write text in quotes, as in \"pack\""
        ),
        Case(
            "[[rule]]\nurl = \"https://a.example/**\nvia = \"network\"\n",
            "2:7 the text has no closing quote on its line"
        ),
        Case("[gateway\nport = 1\n\(rule)", "1:9 expected `]` after the name of the table, found the end of the line"),
        Case("[gateway]\nport 8080\n\(rule)", "2:6 expected `=` and a value after the key, found `8`"),
        Case("[gateway]\nport =\n\(rule)", "2:7 expected a value after `=`, found the end of the line"),
        Case("[gateway]\nport = 80 81\n\(rule)", "2:11 expected the end of the line, found `8`"),
        Case("[gateway]\nport = 1\nport = 2\n\(rule)", "3:1 `port` is set twice: remove one of the two lines"),
        Case("[cache]\n[cache]\n\(rule)", "2:2 `cache` is in the file twice: put all of its keys under one header"),
        Case("[gateway]\nport = 08\n\(rule)", "2:8 `08` is not a number, a date, `true` or `false`"),
        Case(
            "[packs]\ndirectory = \"C:\\packs\"\n\(rule)",
            "2:16 `\\p` is not an escape sequence: write `\\\\` for a backslash, or the text in single quotes"
        ),
        Case(
            "[gateway]\nstart = [\"https://a.example/\"\n  \"https://b.example/\"\n]\nport = -1\n\(rule)",
            "3:3 expected `,` or `]` after the value of an array, found `\"`",
            "5:8 `port` is -1; expected a number from 1 to 65535, or 0 for any free port"
        ),
        Case("[gateway]\nstart = [\"https://a.example/\",\n", "1:1 \(noRules)", "2:9 the array has no `]`"),
        Case(
            "[gateway]\nstart = [\"https://a.example/\",\nport = -1\n\(rule)",
            "3:1 `port` is not a number, a date, `true` or `false`: write text in quotes, as in \"port\"",
            "3:8 `port` is -1; expected a number from 1 to 65535, or 0 for any free port"
        ),
        Case(
            "[packs]\ndirectory = \"\"\"a\n\(rule)port = 1\n",
            "2:13 the text has no closing `\"\"\"`",
            "6:1 `port` is not a key of [[rule]]: [[rule]] may have `url`, `methods` and `via`"
        ),
    ]

    @Test("each have their line, their column, the value and what was expected", arguments: keys + rules)
    func keysAndRules(wrong: Case) { #expect(mistakes(in: wrong.text) == wrong.mistakes) }

    @Test(
        "in strategies have their line, their column, and the strategies that a key belongs to",
        arguments: strategies
    )
    func strategyKeys(wrong: Case) { #expect(mistakes(in: wrong.text) == wrong.mistakes) }

    @Test(
        "in keys of very many parts are reported, and do not end the process",
        arguments: ["KEY = 1", "[KEY]", "a = { KEY = 1 }"]
    )
    func longKeys(line: String) {
        let key = Array(repeating: "a", count: 200_000).joined(separator: ".")
        let found = mistakes(in: line.replacing("KEY", with: key) + "\n")
        #expect(found.contains { $0.hasSuffix(" a key has at most 32 parts") })
    }

    @Test("in the form of TOML have their line and column, and hide no later ones", arguments: syntax)
    func form(wrong: Case) { #expect(mistakes(in: wrong.text) == wrong.mistakes) }

    @Test("do not include what the command line provides")
    func surroundings() {
        let text = "[[rule]]\nurl = \"https://a.example/**\"\nvia = [\"pack\", \"cache\"]\nstrategy = \"standard\"\n"
        #expect(mistakes(in: text).count == 2)
        #expect(mistakes(in: text, beside: .packs).count == 1)
        #expect(mistakes(in: text, beside: [.packs, .cache]).isEmpty)
        let authority = "[authority]\ndirectory = \"a\"\n\(Self.rule)"
        #expect(mistakes(in: authority).count == 1)
        #expect(mistakes(in: authority, beside: .proxy).isEmpty)
    }

    @Test("are shown with their line and a mark below it, in which tabs and control characters keep their width")
    func shown() throws {
        do throws(RulesFile.Problems) {
            _ = try RulesFile("[gateway]\n\tport = \"80\u{1B}[2J\"\n\(Self.rule)")
            Issue.record("the file was accepted")
        } catch {
            #expect(
                error.problems.map { $0.text(in: "kiosk.toml") } == [
                    """
                    kiosk.toml:2:12: a text must not have the control character `\\u{1B}`: write it as an escape
                      2 |  port = "80\u{FFFD}[2J"
                        |            ^
                    """
                ]
            )
        }
    }

    @Test("show a long line around the mark, and values and keys cut")
    func long() throws {
        let long = String(repeating: "a", count: 1 << 20)
        for line in ["\(long) = 1", "via = \"\(long)\"", "via = 1 # \(long)", "x = \"\(long)\" b"] {
            do throws(RulesFile.Problems) {
                _ = try RulesFile(line)
                Issue.record("the file was accepted")
            } catch {
                let lines = try #require(error.problems.first).text(in: "kiosk.toml").split(separator: "\n")
                #expect(lines.allSatisfy { $0.count < 500 })
                let marked = try #require(lines.last?.firstIndex(of: "^"))
                let column = lines[2].distance(from: lines[2].startIndex, to: marked)
                let place = try #require(error.problems.first?.place)
                let character = Array(line)[place.column - 1]
                #expect(lines[1].dropFirst(column).first == character)
            }
        }
    }

    @Test("are found in any text, which never stops the reader", arguments: 0..<200)
    func anyText(seed: Int) {
        // Cuts a right file at each place, and replaces a character by one with a meaning.
        let right = Array(RulesFileTests.whole)
        let cut = right.prefix(seed * right.count / 200)
        _ = mistakes(in: String(cut))
        for mark in "[]{}\"'=#,.\\\n" {
            var changed = right
            changed[(seed * 7919) % right.count] = mark
            _ = mistakes(in: String(changed))
        }
        #expect(mistakes(in: String(repeating: "a = " + String(repeating: "[", count: 5_000), count: 2)).count >= 1)
    }
}
