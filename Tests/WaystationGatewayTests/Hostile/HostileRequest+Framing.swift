#if Gateway
/// Lines of the head, and the framing of bodies (RFC 9112).
extension HostileRequest {
    static let requestLines: [HostileRequest] = [
        ("no target", "GET  HTTP/1.1"), ("no target and one space", "GET HTTP/1.1"),
        ("tabs for spaces", "GET\t/\tHTTP/1.1"),
        ("a space before the method", " GET / HTTP/1.1"), ("a word after the version", "GET / HTTP/1.1 a"),
        ("a method that is none", "G@T / HTTP/1.1"), ("a method in small letters", "get / HTTP/1.1"),
        ("no method", " / HTTP/1.1"), ("an unknown method", "HACK / HTTP/1.1"),
        ("a NUL in the method", "GE\u{0}T / HTTP/1.1"),
        ("a long method", "\(long(100_000)) / HTTP/1.1"), ("no version", "GET /"), ("version 0.9", "GET / HTTP/0.9"),
        ("version 1.2", "GET / HTTP/1.2"), ("version 1.10", "GET / HTTP/1.10"), ("version 01.1", "GET / HTTP/01.1"),
        ("version 1", "GET / HTTP/1"), ("version 2.0", "GET / HTTP/2.0"), ("version 3.0", "GET / HTTP/3.0"),
        ("a comma in the version", "GET / HTTP/1,1"), ("a space in the version", "GET / HTTP /1.1"),
        ("a version in small letters", "GET / http/1.1"),
        ("another protocol's version", "GET / ICE/1.0"), ("a NUL in the target", "GET /\u{0} HTTP/1.1"),
        ("a CR in the target", "GET /\ra HTTP/1.1"), ("a CR before the version", "GET / \rHTTP/1.1"),
    ].map { attempt, line in HostileRequest(attempt: attempt, text: "\(line)\r\nHost: HOST\r\n\r\n") }

    static let fieldLines: [HostileRequest] = [
        ("a space before the colon", "X : a"), ("a tab before the colon", "X\t: a"), ("a folded line", "X: a\r\n b"),
        ("a line folded by a tab", "X: a\r\n\tb"), ("a NUL in a value", "X: a\u{0}b"),
        ("a bare CR in a value", "X: a\rb"),
        ("a bare CR at the end of a value", "X: a\r\r"), ("a control character in a value", "X: a\u{1}b"),
        ("a DEL in a value", "X: a\u{7f}b"), ("a field without a name", ": a"), ("a space in a name", "X Y: a"),
        ("a parenthesis in a name", "X(a): b"), ("a NUL in a name", "X\u{0}: a"),
        ("a byte that is no ASCII in a name", "X\u{e4}: a"),
        ("a line without a colon", "X"), ("a vertical tab in a name", "Content-Length\u{b}: 5"),
        ("a CR in a name", "X\rY: a"), ("a slash in a name", "X/Y: a"),
        ("a hidden length", "X: a\rContent-Length: 5"), ("a quoted name", "\"X\": a"),
    ].map { lines($0, $1) }

    static let lengths: [HostileRequest] =
        [
            "-1", "+1", "1, 2", "1;2", "0x1", "1e0", "1 1", "1_0", "1.0", "one", "\"1\"", "1\t1", "\u{b}1", "1\u{0}",
            "{1}",
            "99999999999999999999", "18446744073709551616", "18446744073709551615", "9223372036854775808",
            "9223372036854775807", "1073741825", "-0",
        ].map { body("the length “\($0)”", "Content-Length: \($0)", "ab") }
        + [
            body("two lengths", "Content-Length: 1\r\nContent-Length: 2", "ab"),
            body("two lengths, the second of which is 0", "Content-Length: 2\r\ncontent-length: 0", "ab"),
            body("a length without a value", "Content-Length:", "ab"),
            body("a length that is folded", "Content-Length:\r\n 2", "ab"),
            incomplete(body("a body that ends early", "Content-Length: 3", "ab")),
            HostileRequest(
                attempt: "a body of GET that looks like a request",
                text: "GET / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 29\r\n\r\nGET / HTTP/1.1\r\nHost: HOST\r\n\r\n"
            ),
        ]

    static let codings: [HostileRequest] =
        [
            "gzip", "deflate", "identity", "xchunked", "chunkedx", "chunked;q=1", "\"chunked\"", "chunked, gzip",
            "gzip, chunked", "chunked, identity", "identity, chunked", "chunked, chunked", ",chunked", "chunked,",
            "\u{b}chunked",
            "chunked\u{0}", "chunk", "x", "chunked chunked", "ch\u{e4}nked",
        ].map { body("the coding “\($0)”", "Transfer-Encoding: \($0)", "0\r\n\r\n") }
        + [
            body("a length before chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
            body("a length after chunks", "Transfer-Encoding: chunked\r\nContent-Length: 3", "0\r\n\r\n"),
            body(
                "the length 0 and chunks",
                "Content-Length: 0\r\nTransfer-Encoding: chunked",
                "5\r\nhello\r\n0\r\n\r\n"
            ),
            body("a length and an unknown coding", "Content-Length: 3\r\nTransfer-Encoding: xchunked", "0\r\n\r\n"),
            body("a length and a coding without a value", "Content-Length: 3\r\nTransfer-Encoding:", "abc"),
            body("a coding that is folded", "Transfer-Encoding:\r\n chunked", "0\r\n\r\n"),
            body(
                "a space before the colon of a coding",
                "Transfer-Encoding : chunked\r\nContent-Length: 5",
                "0\r\n\r\n"
            ),
            body("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", "0\r\n\r\n"),
            body("two codings, chunked last", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
            body("chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
            body("chunked and identity", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "0\r\n\r\n"),
            body(
                "a length that Connection names, and chunks",
                "Connection: Content-Length\r\nContent-Length: 3\r\nTransfer-Encoding: chunked",
                "0\r\n\r\n"
            ),
            HostileRequest(
                attempt: "chunks of HTTP/1.0",
                text: "POST / HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            HostileRequest(
                attempt: "a GET with a coding that is none",
                text: "GET / HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n"
            ),
        ]

    static let chunks: [HostileRequest] =
        [
            ("a size that is not a number", "zz\r\n"), ("a size beyond all numbers", "fffffffffffffffff\r\n"),
            ("a negative size", "-1\r\na\r\n0\r\n\r\n"),
            ("a size with a sign", "+1\r\na\r\n0\r\n\r\n"), ("a size with a prefix", "0x1\r\na\r\n0\r\n\r\n"),
            ("a space before a size", " 1\r\na\r\n0\r\n\r\n"), ("no size", "\r\na\r\n0\r\n\r\n"),
            ("a size in quotes", "\"1\"\r\na\r\n0\r\n\r\n"), ("a size with an underscore", "1_0\r\na\r\n0\r\n\r\n"),
            ("a size that ends with LF alone", "1\na\r\n0\r\n\r\n"),
            ("a size that ends with CR alone", "1\ra\r\n0\r\n\r\n"),
            ("more bytes than the size says", "1\r\nabc\r\n0\r\n\r\n"),
            ("bytes that end with LF alone", "1\r\na\n0\r\n\r\n"),
            ("fewer bytes than the size says", "5\r\nab\r\n0\r\n\r\n"),
            ("an extension with a bare CR", "1;a\rb\r\na\r\n0\r\n\r\n"),
            ("an extension that ends with LF", "1;a\na\r\n0\r\n\r\n"),
            ("an extension with a NUL", "1;a\u{0}\r\na\r\n0\r\n\r\n"),
            ("an extension with a line in quotes", "1;a=\"\r\n\"\r\na\r\n0\r\n\r\n"),

            ("a trailer with a space before its colon", "0\r\nX : a\r\n\r\n"),
            ("a trailer that is folded", "0\r\nX: a\r\n b\r\n\r\n"),
            ("a trailer with a NUL", "0\r\nX: a\u{0}\r\n\r\n"), ("a long trailer", "0\r\nX: \(long(400_000))\r\n\r\n"),
            ("many trailers", "0\r\n\(String(repeating: "X: 1\r\n", count: 2_000))\r\n"),
        ].map { body("chunks with \($0)", "Transfer-Encoding: chunked", $1) } + [
            incomplete(body("chunks without a last one", "Transfer-Encoding: chunked", "1\r\na\r\n")),
            incomplete(body("a chunk of the largest size", "Transfer-Encoding: chunked", "7fffffffffffffff\r\na")),
        ]

    static let sizes: [HostileRequest] = [
        target("/\(long(300_000))"), lines("a long field", "X: \(long(100_000))"),
        lines("a long name", "\(long(100_000)): a"),
        lines("many fields", String(repeating: "X: 1\r\n", count: 1_000) + "X: 1"),
        lines("many long fields", (0..<60).map { "X\($0): \(long(8_000))" }.joined(separator: "\r\n")),
        lines("many cookies", (0..<400).map { "Cookie: a\($0)=\(long(1_000))" }.joined(separator: "\r\n")),
        incomplete(
            HostileRequest(attempt: "many lines before the head", text: String(repeating: "\r\n", count: 300_000) + "a")
        ),
    ]
}
#endif
