import Testing
import WaystationHTTP

@Suite("The grammar of field values (RFC 9110 §5.6)")
struct FieldListTests {
    @Test(
        "names the fields that belong to the connection, whatever its own options are",
        arguments: [
            ([], []), (["keep-alive"], []), (["Keep-Alive"], []), (["close"], []), (["CLOSE"], []),
            (["X-Trace"], ["x-trace"]), (["close, X-Trace"], ["close", "x-trace"]),
            (["keep-alive", " X-Trace ,,\tUpgrade"], ["x-trace", "upgrade"]), (["close", "X-Trace"], ["x-trace"]),
        ] as [([String], Set<String>)]
    )
    func connection(values: [String], names: Set<String>) {
        #expect(ConnectionFields.named(by: values) == names)
    }

    @Test(
        "names the codings of a body in their order, without those that mean none",
        arguments: [
            ([], []), (["gzip"], ["gzip"]), (["GZip , br"], ["gzip", "br"]),
            (["gzip", "identity, zstd"], ["gzip", "zstd"]),
            (["none"], []), ([""], []),
        ] as [([String], [String])]
    )
    func codings(values: [String], names: [String]) {
        #expect(ContentCodings(values).names == names)
    }

    @Test(
        "ends a member at a comma outside of quoted strings",
        arguments: [
            ("", []), (",", []), (" , \t,", []), ("a", ["a"]), ("a,b", ["a", "b"]), (" a ,\tb\t, ", ["a", "b"]),
            (#"a="1,2",b"#, [#"a="1,2""#, "b"]), (#"a="1\",2",b"#, [#"a="1\",2""#, "b"]),
            (#"a="1\\",b"#, [#"a="1\\""#, "b"]), (#"a\,b"#, [#"a\"#, "b"]),
            // A quoted string that is not closed reaches to the end.
            (#"a="1,b"#, [#"a="1,b"#]), (#"a="1\"#, [#"a="1\"#]), (#"a,""#, ["a", "\""]),
            ("ä=\"ö,ü\",ß", ["ä=\"ö,ü\"", "ß"]),
            // A combining mark joins no quotation mark.
            ("a=\"\u{301},b\",c", ["a=\"\u{301},b\"", "c"]),
        ]
    )
    func quotedMembers(_ value: String, _ members: [String]) {
        #expect(value.quotedListMembers.map(String.init) == members)
    }

    @Test(
        "splits a list of tokens at each comma, whatever quotation marks it has",
        arguments: [
            ("", []), (",, ,", []), ("a", ["a"]), (" a ,\tB , ", ["a", "B"]), (#""a, b", c"#, [#""a"#, #"b""#, "c"]),
        ]
    )
    func tokens(_ value: String, _ members: [String]) {
        #expect(value.listMembers == members)
        for member in members { #expect(value.hasListMember(member.lowercased())) }
        #expect(!value.hasListMember("d"))
    }

    @Test func `keeps all parts of a value, also empty ones, as they are`() {
        let parts = #" text/html ;a="b;c"; ;"#.utf8.splitOutsideQuotes(at: UInt8(ascii: ";")).map { Substring($0) }
        #expect(parts == [" text/html ", #"a="b;c""#, " ", ""])
    }

    @Test(
        "takes a value out of its quotation marks if it is one quoted string",
        arguments: [
            ("a", "a"), (" a ", "a"), (#""a""#, "a"), (#" "" "#, ""), (#""a\"b\\""#, #"a"b\"#), (#""a" b"#, #""a" b"#),
            (#""a"#, #""a"#), (#""a\""#, #""a\""#), (#"a"b""#, #"a"b""#), ("\"ä\\ö\"", "äö"), ("", ""),
        ]
    )
    func unquoted(_ value: String, _ text: String) {
        #expect(value.utf8[...].unquoted() == text)
    }

    @Test func `takes nothing from a text that begins with no whole quoted string`() {
        for text in ["", "a", "\"a", "\"a\\", "\"a\\\""] {
            var bytes = text.utf8[...]
            #expect(bytes.takeQuotedString() == nil)
            #expect(bytes.elementsEqual(text.utf8))
        }
        var bytes = #""a\"b"c"#.utf8[...]
        #expect(bytes.takeQuotedString().map { String(decoding: $0, as: UTF8.self) } == #"a"b"#)
        #expect(Substring(bytes) == "c")
    }

    @Test func `reads a media type with its parameters`() {
        let type = ParameterizedValue(#" Text/HTML ; Charset="UTF-8";; boundary = a;x; charset=b; y="#)
        #expect(type.value == "text/html")
        #expect(type["charset"] == "UTF-8")
        #expect(type["boundary"] == "a")
        #expect(type["x"] == nil)
        #expect(type["y"] == "")
        #expect(type.parameters.map(\.name) == ["charset", "boundary", "x", "charset", "y"])
        #expect(ParameterizedValue("") == ParameterizedValue(" "))
        #expect(ParameterizedValue(#"form-data; name="a;b""#)["name"] == "a;b")
    }

    @Test(
        "reads a length (§8.6)",
        arguments: [
            (["5"], .bytes(5)), ([" 5\t"], .bytes(5)), (["5 , 5"], .bytes(5)), (["5", "05"], .bytes(5)), ([], .absent),
            ([""], .invalid), (["5,"], .invalid), (["5", ""], .invalid), (["5,6"], .invalid), (["5", "6"], .invalid),
            (["+5"], .invalid), (["-5"], .invalid), (["5 5"], .invalid), (["99999999999999999999"], .invalid),
            (["\u{665}"], .invalid),
        ] as [([String], ContentLength)]
    )
    func length(_ lines: [String], _ length: ContentLength) {
        #expect(ContentLength(lines: lines) == length)
        #expect(ContentLength(lines.isEmpty ? nil : lines.joined(separator: ",")) == length)
    }
}

@Suite("Text in ASCII")
struct BytesTests {
    @Test func `is compared without the case of its letters, and letters beyond ASCII as they are`() {
        for (one, other) in [("", ""), ("Content-Type", "content-TYPE"), ("é", "é"), ("@[`{", "@[`{")] {
            #expect(one.equalsIgnoringCase(other))
            #expect((one + "x").startsIgnoringCase(with: other))
        }
        // The sign for Kelvin is `k` in lower case, and `İ` begins with `i`.
        for (one, other) in [("a", "ab"), ("@", "`"), ("[", "{"), ("É", "é"), ("\u{212A}", "k"), ("é", "e\u{301}")] {
            #expect(!one.equalsIgnoringCase(other))
            #expect(!other.equalsIgnoringCase(one))
        }
        #expect(!"http".startsIgnoringCase(with: "https"))
    }

    @Test func `is a token without separators, and a number of digits alone`() {
        for text in ["a", "GET", "!#$%&'*+-.^_`|~09azAZ"] { #expect(text.utf8.isToken) }
        for text in ["", " a", "a b", "a:", "é", "\"a\"", "a/b", "a\u{7F}"] { #expect(!text.utf8.isToken) }
        for text in ["0", "0123456789"] { #expect(text.utf8.isDecimal) }
        for text in ["", "-1", "+1", "1 ", "1a", "\u{661}"] { #expect(!text.utf8.isDecimal) }
    }

    @Test func `loses spaces and tabs at its ends, and no other space`() {
        #expect(" \ta b\t ".trimmingSpace() == "a b")
        #expect("a".trimmingSpace() == "a")
        #expect(" \t".trimmingSpace() == "")
        #expect("\u{A0}a\n".trimmingSpace() == "\u{A0}a\n")
    }

    @Test func `knows hosts that end in a number`() {
        for host in ["1", "1.", "a.1", "127.0.0.1", "a.0x", "0xFf", "0x100000000", "99999999999"] {
            #expect(host.utf8.endsInNumber, "\(host)")
        }
        for host in ["", ".", "a", "1.a", "0xg", "1a", "a..", "0x1.a", "x0"] {
            #expect(!host.utf8.endsInNumber, "\(host)")
        }
    }
}
