import Testing

@testable import Waystation

@Suite("WWW-Authenticate (RFC 9110 §11.6.1)")
struct AuthenticationChallengeFieldTests {
    private func parse(_ value: String) -> [String] {
        AuthenticationChallengeField.parse(value).map { "\($0.scheme)|\($0.realm ?? "-")" }
    }

    @Test(
        "examples of the RFCs",
        arguments: [
            // RFC 9110 §11.6.1
            (
                #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
                ["basic|simple", "newauth|apps"]
            ),
            // RFC 7617 §2 and §2.1
            (#"Basic realm="WallyWorld""#, ["basic|WallyWorld"]),
            (#"Basic realm="foo", charset="UTF-8""#, ["basic|foo"]),
            // RFC 7616 §3.9.1, two fields joined as Foundation joins them
            (
                """
                Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", \
                Digest realm="other", algorithm=MD5
                """,
                ["digest|http-auth@example.org", "digest|other"]
            ),
            // RFC 4559 §4.1, and a token68
            ("Negotiate", ["negotiate|-"]), ("Negotiate a87421000492aa874209af8bc028==", ["negotiate|-"]),
            ("NTLM, Basic realm=plain", ["ntlm|-", "basic|plain"]),
        ]
    )
    func examples(value: String, expected: [String]) {
        #expect(parse(value) == expected)
    }

    @Test(
        "quoted strings may hold commas, quotes and equals signs",
        arguments: [
            (#"Basic realm="a, b""#, ["basic|a, b"]), (#"Basic realm="a\"b\\c""#, [#"basic|a"b\c"#]),
            (#"Basic realm="a=b, Digest realm=c""#, ["basic|a=b, Digest realm=c"]), (#"Basic realm="""#, ["basic|"]),
            (#"Basic x="1, realm=no", realm="yes""#, ["basic|yes"]),
            (#"Basic realm="a\", b", Digest realm="c""#, [#"basic|a", b"#, "digest|c"]),
            (#"Basic realm="a\\", Digest realm="b, c""#, [#"basic|a\"#, "digest|b, c"]),
        ]
    )
    func quoted(value: String, expected: [String]) {
        #expect(parse(value) == expected)
    }

    @Test(
        "white space may surround the equals sign, and elements may be empty",
        arguments: [
            (#"Basic realm = "a""#, ["basic|a"]), (#"Digest qop=auth, realm = "a""#, ["digest|a"]),
            (#",, Basic  realm="a" , ,"#, ["basic|a"]), ("basic\tREALM=a", ["basic|a"]),
        ]
    )
    func whiteSpace(value: String, expected: [String]) {
        #expect(parse(value) == expected)
    }

    @Test(
        "malformed values do not crash the parser",
        arguments: [
            ("", []), (",", []), ("=", []), ("realm=\"a\"", []), ("=a, Basic realm=b", []),
            (#"Basic realm="never closed, Digest realm=a"#, [#"basic|"never closed, Digest realm=a"#]),
            (#"Basic realm=""#, [#"basic|""#]), (#"Basic realm="a\"#, [#"basic|"a\"#]), ("Basic =", []),
        ] as [(String, [String])]
    )
    func garbage(value: String, expected: [String]) {
        #expect(parse(value) == expected)
    }
}
