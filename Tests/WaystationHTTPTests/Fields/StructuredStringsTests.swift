import Testing
import WaystationHTTP

private struct Row: CustomTestStringConvertible, Sendable {
    var lines: [String]
    var expected: [String]?

    init(_ lines: String..., gives expected: [String]?) { (self.lines, self.expected) = (lines, expected) }

    var testDescription: String { "\(lines) → \(expected.map { "\($0)" } ?? "malformed")" }
}

@Suite("A structured field that is a list of strings (RFC 9651)")
struct StructuredStringsTests {
    private static let rows: [Row] = [
        Row(gives: []),
        Row("", gives: []),
        Row("  ", gives: []),
        Row(#""a""#, gives: ["a"]),
        Row(#"  "a" , "b"  "#, gives: ["a", "b"]),
        Row("\"a\"\t,\t\"b\"", gives: ["a", "b"]),
        Row(#""a""#, #""b", "c""#, gives: ["a", "b", "c"]),
        Row(#""a", "a""#, gives: ["a", "a"]),
        Row(#""""#, gives: [""]),
        Row(#""a,b;c=\"d\\e\"""#, gives: [#"a,b;c="d\e""#]),
        // Parameters are ignored, whatever items they have.
        Row(#""a";x, "b";y=1;z="2,;";*t=w/x:y;v=:YQ==:;u=?0;d=@-5;e=1.5;f=%"g%c3%bc""#, gives: ["a", "b"]),
        Row(#""a"; x"#, gives: ["a"]),
        // The whole field is ignored.
        Row("a", gives: nil),
        Row(#""a", b"#, gives: nil),
        Row(#""a", ("b")"#, gives: nil),
        Row(#""a", 1"#, gives: nil),
        Row(#""a",, "b""#, gives: nil),
        Row(#""a","#, gives: nil),
        Row(#", "a""#, gives: nil),
        Row("\t\"a\"", gives: nil),
        Row(#""a" "b""#, gives: nil),
        Row(#""a"#, gives: nil),
        Row(#""a\"#, gives: nil),
        Row(#""a\b""#, gives: nil),
        Row("\"a\u{7F}\"", gives: nil),
        Row("\"ä\"", gives: nil),
        Row("\"a\tb\"", gives: nil),
        Row("'a'", gives: nil),
        Row(#""a";"#, gives: nil),
        Row(#""a";X=1"#, gives: nil),
        Row(#""a";x="#, gives: nil),
        Row(#""a";x=?2"#, gives: nil),
        Row(#""a";x=1234567890123456"#, gives: nil),
        Row(#""a";x=1234567890123.5"#, gives: nil),
        Row(#""a";x=1."#, gives: nil),
        Row(#""a";x=1.2345"#, gives: nil),
        Row(#""a";x=@1.5"#, gives: nil),
        Row(#""a";x=:YQ"#, gives: nil),
        Row(#""a" ;x"#, gives: nil),
    ]

    @Test("is read, or ignored as a whole", arguments: rows)
    private func reading(_ row: Row) { #expect(StructuredStrings.parse(row.lines) == row.expected) }

    @Test("gives the strings back that were written, without those that no string can express")
    func writing() {
        let strings = ["prices", "", #"a"b\c, "#, "~ !"]
        #expect(StructuredStrings.parse([StructuredStrings.serialize(strings)]) == strings)
        #expect(StructuredStrings.serialize(["ä", "a\nb", "c"]) == #""c""#)
        #expect(StructuredStrings.serialize(["ä"]) == "")
    }

    @Test("has room for 128 strings of 32 characters and more (RFC 9875 §2)")
    func many() {
        let strings = (0..<1_000).map { "\($0)-" + String(repeating: "x", count: 64) }
        #expect(StructuredStrings.parse([StructuredStrings.serialize(strings)]) == strings)
    }
}
