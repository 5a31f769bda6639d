#if Gateway
/// Requests of other pages, expectations, and bytes of other protocols.
extension HostileRequest {
    static let pages: [HostileRequest] =
        [
            ("POST", "Origin: https://evil.example"), ("GET", "Origin: https://evil.example"),
            ("HEAD", "Origin: https://evil.example"),
            ("OPTIONS", "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST"),
            ("POST", "Origin: null"),
            ("POST", "Origin: http://NAME:1"), ("POST", "Origin: http://NAME"), ("POST", "Origin: https://HOST"),
            ("POST", "Origin: HOST"), ("POST", "Origin: http://HOST.evil.example"),
            ("POST", "Origin: http://HOST@evil.example"),
            ("POST", "Origin: http://evil.example/http://HOST"), ("POST", "Origin: http://localhost:PORT"),
            ("POST", "Origin: http://127.0.0.1:PORT"), ("POST", "Origin: https://shop.example"),
            ("POST", "Origin: file://"),
            ("POST", "Origin: chrome-extension://a"), ("POST", "Origin: http://HOST\r\nOrigin: https://evil.example"),
            ("POST", "Origin: https://evil.example\r\nOrigin: http://HOST"),
            ("POST", "Origin: https://evil.example\r\nConnection: Origin"), ("POST", "Referer: https://evil.example/"),
            ("POST", "Sec-Fetch-Site: cross-site"), ("POST", "Sec-Fetch-Site: same-site"),
            ("PUT", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors"), ("DELETE", "Sec-Fetch-Site: cross-site"),
            ("PATCH", "Sec-Fetch-Site: cross-site"), ("POST", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate"),
            ("POST", "Sec-Fetch-Site: Same-Origin"), ("POST", "Sec-Fetch-Site: same-origin, cross-site"),
            ("POST", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Site: same-origin"),
            ("POST", "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site"), ("POST", "Sec-Fetch-Site:"),
        ].map { method, fields in
            lines(
                "\(method) of a page with \(fields.replacing("\r\n", with: ", "))",
                fields + "\r\nContent-Length: 0",
                method: method
            )
        }

    static let expectations: [HostileRequest] = ["200-ok", "100-continue, 200-ok", "100-continue;a", "continue"]
        .map { body("the expectation “\($0)”", "Content-Length: 2\r\nExpect: \($0)", "ab") }

    static let otherProtocols: [HostileRequest] = [
        HostileRequest(attempt: "a request of HTTP/0.9", text: "GET /\r\n\r\n"),
        HostileRequest(attempt: "the preface of HTTP/2", text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        HostileRequest(
            attempt: "the preface and frames of HTTP/2",
            text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u{0}\u{0}\u{0}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}"
        ),
        HostileRequest(attempt: "TLS", text: "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n"),
        HostileRequest(attempt: "TLS of version 2", text: "\u{80}\u{2e}\u{1}\u{0}\u{2}\r\n\r\n"),
        HostileRequest(attempt: "SSH", text: "SSH-2.0-OpenSSH_9.2\r\n\r\n"),
        HostileRequest(attempt: "SMTP", text: "EHLO evil.example\r\nMAIL FROM:<a@evil.example>\r\n\r\n"),
        HostileRequest(attempt: "FTP", text: "USER a\r\nPASS b\r\n\r\n"),
        HostileRequest(attempt: "Redis", text: "*1\r\n$4\r\nPING\r\n"),
        HostileRequest(attempt: "SOCKS 5", text: "\u{5}\u{1}\u{0}\r\n\r\n"),
        incomplete(HostileRequest(attempt: "SOCKS 4", text: "\u{4}\u{1}\u{0}\u{50}\u{7f}\u{0}\u{0}\u{1}\u{0}")),
        HostileRequest(
            attempt: "the PROXY protocol",
            text: "PROXY TCP4 1.2.3.4 127.0.0.1 1 PORT\r\nGET / HTTP/1.1\r\nHost: HOST\r\n\r\n"
        ),
        HostileRequest(
            attempt: "the PROXY protocol, version 2",
            text: "\r\n\r\n\u{0}\r\nQUIT\n\u{21}\u{11}\u{0}\u{c}GET / HTTP/1.1\r\nHost: HOST\r\n\r\n"
        ),
        HostileRequest(attempt: "a response", text: "HTTP/1.1 200 OK\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n"),
        HostileRequest(attempt: "zeros", text: String(repeating: "\u{0}", count: 1_000)),
        HostileRequest(attempt: "a frame of a web socket", text: "\u{81}\u{85}\u{1}\u{2}\u{3}\u{4}abcde"),
        incomplete(HostileRequest(attempt: "nothing", text: "")),
    ]
}
#endif
