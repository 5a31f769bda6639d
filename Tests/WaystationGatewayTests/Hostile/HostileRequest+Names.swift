#if Gateway
/// Names of hosts, and targets.
extension HostileRequest {
    static let hosts: [HostileRequest] =
        [
            HostileRequest(attempt: "no host", text: "GET / HTTP/1.1\r\n\r\n"),
            HostileRequest(attempt: "no host of HTTP/1.0", text: "GET / HTTP/1.0\r\n\r\n"),
            HostileRequest(attempt: "two equal hosts", text: "GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n"),
            HostileRequest(attempt: "two hosts", text: "GET / HTTP/1.1\r\nHost: HOST\r\nhost: evil.example\r\n\r\n"),
            HostileRequest(
                attempt: "a host that is folded",
                text: "GET / HTTP/1.1\r\nHost: HOST\r\n .evil.example\r\n\r\n"
            ),
            HostileRequest(attempt: "a host after a space", text: "GET / HTTP/1.1\r\n Host: HOST\r\n\r\n"),
            HostileRequest(attempt: "a host before a space", text: "GET / HTTP/1.1\r\nHost : HOST\r\n\r\n"),
            HostileRequest(
                attempt: "a host in another field only",
                text: "GET / HTTP/1.1\r\nX-Forwarded-Host: HOST\r\nHost: evil.example\r\n\r\n"
            ),
        ]
        + [
            "", "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:PORT", "localhost", "localhost:PORT",
            "[::1]",
            "[::1]:PORT", "[::1%25lo]:PORT", "[::ffff:127.0.0.1]:PORT", "[NAME]:PORT", "2130706433:PORT",
            "0x7f000001:PORT", "0x7f.0.0.1:PORT", "0177.0.0.1:PORT", "127.1:PORT", "0:PORT", "127.0.0.1.nip.io:PORT",
            "shop-example.localhost:1", "shop.example.localhost:PORT", "NAME", "NAME:", "NAME:+PORT", "NAME:-PORT",
            "NAME:0PORT", "NAME: PORT",
            "NAME:PORT:PORT", "NAME:PORT/", "NAME:PORT?", "NAME:PORT#", "NAME.:PORT", ".NAME:PORT",
            "NAME.evil.example:PORT", "a:b@HOST", "evil.example@HOST", "HOST@evil.example", "HOST, evil.example",
            "HOST evil.example", "HOST;evil.example", "NAME%00.evil.example:PORT", "shop%2dexample.localhost:PORT",
            "shop.example%2flocalhost:PORT", "*.localhost:PORT", "..localhost:PORT", "http://HOST", "//HOST",
            "HOST\\evil", "HOST\u{b}", "shop-example-65536.localhost:PORT", "shop-example-0.localhost:PORT",
            "shop-example-080.localhost:PORT", "shop-example-443.localhost:PORT", "shop-example-80-http.localhost:PORT",
            "127-0-0-1-PORT-http.localhost:PORT", "localhost-PORT-http.localhost:PORT", "other-example.localhost:PORT",
            "shop---example.localhost:PORT", "-shop-example.localhost:PORT", "shop-example-.localhost:PORT",
            "shop.example.site---00000000000000000000000000000000.localhost:PORT", "site---.localhost:PORT",
            "\u{e4}.localhost:PORT", "\(long(64)).localhost:PORT", "\(long(60_000)):PORT",
        ].map(host)

    static let targets: [HostileRequest] =
        [
            "/a#b", "/a b", "/\u{e4}", "/a\u{7f}", "/a\tb", "*", "?a=b", "a/b", "\\a", "HOST", "http:/HOST/",
            "http:HOST",
            "http://", "http:///a", "httpx://HOST/", "ftp://HOST/", "https://HOST/", "ws://HOST/", "file:///etc/passwd",
            "javascript:alert(1)", "http://evil.example/", "http://HOST@evil.example/", "http://evil.example@HOST/",
            "http://a:b@HOST/", "http://NAME/", "http://NAME:1/", "http://HOST\\@evil.example/",
            "http://HOST%2f@evil.example/", "http://NAME%3aPORT/", "http://[::1]:PORT/", "http://127.0.0.1:PORT/",
            "http://ORIGIN/", "http://HOST.evil.example/",
        ].map { target($0) }
        + [
            ("*", "OPTIONS"), ("/", "TRACE"), ("/", "TRACK"), ("evil.example:443", "CONNECT"), ("HOST", "CONNECT"),
            ("/", "CONNECT"),
        ].map { target($0, method: $1) }
        + [
            target("http://evil.example/", host: "evil.example"), target("http://ORIGIN/", host: "ORIGIN"),
            target("http://a:b@HOST/", host: "a:b@HOST"),
            target("evil.example:443", host: "evil.example:443", method: "CONNECT"),
        ]
        // Paths out of the folder of a site.
        + [
            "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "/a/..\\..\\..\\etc\\passwd",
            "/%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd", "/a%00.txt", "/%", "/..;/..;/etc/passwd", "//etc/passwd",
        ].map { target($0, host: "SHOP") }

    /// Targets at a gateway that is a proxy.
    static let proxyTargets: [HostileRequest] =
        [
            ("http://evil.example/", "evil.example"), ("http://evil.example/", "ORIGIN"), ("http://ORIGIN/", "HOST"),
            ("http://a:b@ORIGIN/", "ORIGIN"), ("http://a:b@ORIGIN/", "a:b@ORIGIN"),
            ("http://ORIGIN@evil.example/", "ORIGIN"),
            ("http://ORIGIN%2f@evil.example/", "ORIGIN"), ("http://ORIGIN\\@evil.example/", "ORIGIN"),
            ("https://ORIGIN/", "ORIGIN"), ("//ORIGIN/", "ORIGIN"), ("/", "ORIGIN"),
            ("http://[::1%25lo]/", "[::1%25lo]"),
            ("http://127.0.0.1:PORT/", "127.0.0.1:PORT"), ("http://localhost:PORT/", "localhost:PORT"),
            ("http://127.0.0.1.:80/", "127.0.0.1.:80"), ("http://ORIGIN#@evil.example/", "ORIGIN"),
            ("http://127.0.0.1:+NUMBER/", "127.0.0.1:+NUMBER"), ("http://127.0.0.1:0NUMBER/", "127.0.0.1:0NUMBER"),
        ].map { proxied(target($0, host: $1)) }

    /// Tunnels that a gateway must not open, although it is a proxy.
    static let connects: [HostileRequest] =
        [
            "evil.example", ":443", "evil.example:", "evil.example:0", "evil.example:65536", "evil.example:+443",
            "evil.example:-443", "evil.example:0443", "evil.example:https", "evil.example:443/", "evil.example:443?a",
            "http://evil.example:443", "/", "*", "a@evil.example:443", "a:b@evil.example:443", "evil.example:443:443",
            "[::1:443", "::1]:443", "::1:443", "[::1%25lo]:443", "[evil.example]:443", "[127.0.0.1]:443",
            "2130706433:443", "0x7f.1:443", "0x7f000001:443", "127.1:443", "0177.0.0.1:443", "127.0.0.1.:443",
            "127.0.0.256:443", "evil..example:443", ".evil.example:443", "evil%2eexample:443", "evil.example%00:443",
            "evil_\u{e4}.example:443",
        ].map { proxied(target($0, host: $0, method: "CONNECT")) }
        + [
            proxied(target("ORIGIN", host: "evil.example:443", method: "CONNECT")),
            proxied(target("ORIGIN", host: "HOST", method: "CONNECT")),
            proxied(HostileRequest(attempt: "CONNECT without a host", text: "CONNECT ORIGIN HTTP/1.1\r\n\r\n")),
            proxied(HostileRequest(attempt: "a URL without a host", text: "GET http://ORIGIN/ HTTP/1.1\r\n\r\n")),
            proxied(target("ORIGIN", host: "127.0.0", method: "CONNECT")),
            proxied(target("ORIGIN", host: "127.0.0.1:", method: "CONNECT")),
            proxied(
                HostileRequest(
                    attempt: "CONNECT with two hosts",
                    text: "CONNECT ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\nHost: evil.example\r\n\r\n"
                )
            ),
        ]

    private static func proxied(_ request: HostileRequest) -> HostileRequest {
        HostileRequest(attempt: "to a proxy: " + request.attempt, text: request.text, isProxy: true)
    }
}
#endif
