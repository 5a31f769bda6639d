import Foundation
import Testing
import WaystationProcesses

@testable import WaystationCLI

/// Compares the reader of TOML with the one of Python's standard library.
@Suite("TOML as Python reads it")
struct TOMLTests {
    private static let valid = [
        "", "# only a comment", "a = 1\nb = -17\nc = +99\nd = 1_000\ne = 0xDEADBEEF\nf = 0o755\ng = 0b1101\nh = -0\n",
        "a = 3.1415\nb = -0.01\nc = 5e+22\nd = 1e06\ne = -2E-2\nf = 6.626e-34\ng = 224_617.445_991_228\n",
        "a = true\nb = false", "a = \"\"\nb = ''\n\"quoted key\" = 1\n'and \"this\"' = 2\n\"\" = 3",
        "a = \"tab\\tquote\\\" back\\\\ nl\\n u\\u00E9 U\\U0001F600 b\\b f\\f r\\r\"", "a = 'C:\\Users\\n'",
        "a = \"\"\"\nfirst newline is left out\nand \\\n    joined \"quoted\" \"\"two\"\"\"\"\"\n",
        "a = '''\nI [dw]on't need \\d{2} ''two'' quotes'''''\n", "a = \"\"\"x\\   \n\n   y\"\"\"",
        "a.b.c = 1\na.d = 2\nx . \"y z\" . 'w' = 3", "3.14 = \"pi\"\n-_ = 1",
        "[a.b.c]\nd = 1\n[a]\ne = 2\n[a.b]\nf = 3",
        "[a]\nb.c = 1\n[a.d]\ne = 1", "[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3\n[[a.e]]\nf = 4\n[[a.e]]\n",
        "a = [1, 2, [\"x\", {b = 1}], ]\nb = [ # comment\n  1, # one\n\n  2\n]\nc = []",
        "a = { b = 1, c.d = \"x\", e = { f = [ {} ] } }\n", "a = 1 # end\n\t b\t=\t2\t",
        "a=1\r\nb=\"\"\"x\r\ny\"\"\"\r\n",
        "é = 1".replacing("é", with: "\"é\""), "[ a . b ]\nc = 1", "a = \"#no comment\" # comment",
        "[fruit]\napple.color = 1\napple.taste.sweet = true\n[fruit.apple.texture]\nsmooth = true",
        "[a]\n[a.b]\n[c.d]\n[c]",
    ]

    private static let invalid = [
        "a", "a =", "= 1", "a = 1 b = 2", "a = 1\na = 2", "a.b = 1\na = 2", "a = 1\na.b = 2", "[a]\n[a]",
        "[a]\nb = 1\n[a.b]", "a = [1]\n[[a]]", "[[a]]\n[a]", "[a]\n[[a]]", "a = {b = 1}\n[a.c]", "a = {b = 1}\na.c = 2",
        "a = {b = 1, }", "a = {b = 1\n}", "a = {b = 1, b = 2}", "a = {b.c = 1, b = 2}", "a = 01", "a = 1__0", "a = _1",
        "a = 1_", "a = 1.", "a = .1", "a = 1.e5", "a = 0x", "a = 0xG", "a = 0b2", "a = -0x1", "a = 1e", "a = truE",
        "a = inF", "a = \"\\q\"", "a = \"\\u12\"", "a = \"\\uD800\"", "a = \"\\U00110000\"", "a = \"x\ny\"",
        "a = 'x\ny'",
        "a = \"x", "a = '''x''", "a = \"\u{1}\"", "# \u{1}", "a = [1 2]", "a = [1,,2]", "a = [,]", "a = [1", "[a",
        "[a]]",
        "[]", "[a.]", "[.a]", "a..b = 1", "[[a]", "[[a] ]", "[a] b = 1", "\"\"\"a\"\"\" = 1", "a b = 1",
        "a = 2026-13-01", "a = 2026-02-30", "a = 2026-1-1", "a = 25:00:00", "a = 12:60:00", "a = 2026-01-01T",
        "a = 2026-01-01T12:00:00+25:00", "[a.b.c]\nz = 9\n[a]\nb.c.t = 1", "a.b.c = 1\n[a]\nd = 2", "é = 1",
        "a = \"\"\"x\"\"\"\"\"\"", "a = 1\rb = 2", "[a]\nb.c = 1\n[a.b]\n",
    ]

    private static let dates = [
        "1979-05-27T07:32:00Z", "1979-05-27T00:32:00.999999-07:00", "1979-05-27 07:32:00", "1979-05-27", "07:32:00",
        "2024-02-29", "00:32:00.5",
    ]

    private static let program = """
        import json, sys, tomllib
        for text in json.load(sys.stdin):
            try: print(json.dumps(tomllib.loads(text), sort_keys=True, default=str))
            except tomllib.TOMLDecodeError: print("invalid")
        """

    /// The object that Python reads from each text; nil if Python refuses the text.
    private func pythonReads(_ texts: [String]) throws -> [NSDictionary?] {
        let program = Self.program.replacing(
            "json.load(sys.stdin)",
            with: "json.loads(sys.argv[1])"
        )
        let argument = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
        let ended = try SpawnedProcess.run("/usr/bin/python3", ["-c", program, argument])
        try #require(ended.ending == .exited(0), "\(String(decoding: ended.errors, as: UTF8.self))")
        let lines = String(decoding: ended.output, as: UTF8.self).split(separator: "\n")
        try #require(lines.count == texts.count)
        return try lines.map { line in
            line == "invalid" ? nil : try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
        }
    }

    @Test("has the same keys and values")
    func values() throws {
        for (text, expected) in zip(Self.valid, try pythonReads(Self.valid)) {
            let (document, faults) = TOMLParser.parse(SourceText(text))
            #expect(faults.isEmpty, "\(text)")
            let object = try JSONSerialization.data(withJSONObject: document.object)
            let found = try JSONSerialization.jsonObject(with: object) as? NSDictionary
            #expect(found == expected, "\(text)")
        }
    }

    @Test("is refused in the same texts, with a place within the text")
    func refusals() throws {
        for (text, expected) in zip(Self.invalid, try pythonReads(Self.invalid)) {
            #expect(expected == nil, "Python accepts \(text)")
            let faults = TOMLParser.parse(SourceText(text)).faults
            #expect(!faults.isEmpty, "\(text)")
            for fault in faults {
                #expect((0...text.unicodeScalars.count).contains(fault.range.lowerBound), "\(text)")
            }
        }
    }

    @Test("has dates and times, with or without a zone", arguments: dates)
    func date(text: String) throws {
        #expect(try pythonReads(["a = \(text)"]).first != .some(nil))
        let (document, faults) = TOMLParser.parse(SourceText("a = \(text)\nb = 1"))
        #expect(faults.isEmpty)
        guard case .date(text) = document.entry("a")?.value.kind else {
            Issue.record("\(text) is no date")
            return
        }
    }

    @Test("has infinity and values that are no number")
    func specialFloats() throws {
        let (document, faults) = TOMLParser.parse(SourceText("a = inf\nb = -inf\nc = nan\nd = +nan"))
        #expect(faults.isEmpty)
        guard case .float(let minus) = document.entry("b")?.value.kind,
            case .float(let no) = document.entry("c")?.value.kind
        else {
            Issue.record("the values are no floats")
            return
        }
        #expect(minus == -.infinity)
        #expect(no.isNaN)
    }
}

extension TOMLTable {
    /// The table as the objects of JSON.
    fileprivate var object: [String: Any] {
        Dictionary(uniqueKeysWithValues: entries.map { ($0.key.name, $0.value.object) })
    }
}

extension TOMLValue {
    fileprivate var object: Any {
        switch kind {
        case .string(let string): string.text
        case .integer(let number): number
        case .float(let number): number
        case .boolean(let value): value
        case .date(let text): text
        case .array(let array): array.elements.map(\.object)
        case .table(let table): table.object
        }
    }
}
