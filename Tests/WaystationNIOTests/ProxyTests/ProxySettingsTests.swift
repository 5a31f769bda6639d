#if NIO
import Testing

@testable import WaystationNIO

@Suite("Proxies from the environment")
struct ProxySettingsTests {
    private func route(_ environment: [String: String], _ host: String = "origin.test", secure: Bool = false) -> Route {
        ProxySettings(environment: environment).route(toHost: host, isSecure: secure)
    }

    private let proxy = Route.Proxy(host: "proxy.test", port: 3128, authorization: nil)

    @Test("Without variables, or with empty ones, the way is direct")
    func direct() {
        #expect(route([:]) == .direct)
        #expect(route(["http_proxy": "", "https_proxy": ""]) == .direct)
        #expect(route(["http_proxy": "http://proxy.test:3128"], secure: true) == .direct)
        #expect(route(["https_proxy": "http://proxy.test:3128"]) == .direct)
    }

    @Test("http gets the absolute form and https a tunnel")
    func forms() {
        #expect(route(["http_proxy": "http://proxy.test:3128"]) == .absoluteForm(proxy))
        #expect(route(["https_proxy": "http://proxy.test:3128/"], secure: true) == .tunnel(proxy))
        #expect(route(["HTTPS_PROXY": "HTTP://Proxy.Test:3128"], secure: true) == .tunnel(proxy))
    }

    @Test("A proxy on this machine does not use itself, where the environment names its own port")
    func ownPort() {
        for host in ["127.0.0.1", "127.1", "0.0.0.0", "localhost", "[::1]", "[::]"] {
            let own = route(["all_proxy": "http://\(host):8080"], secure: true)
            #expect(own != .direct)
            #expect(own.avoiding(loopbackPort: 8080) == .direct)
            #expect(own.avoiding(loopbackPort: 8081) == own)
        }
        for host in ["proxy.test", "127.proxy.example", "128.0.0.1", "0.0.0.1"] {
            let other = route(["all_proxy": "http://\(host):8080"], secure: true)
            #expect(other.avoiding(loopbackPort: 8080) == other)
            #expect(other != .direct)
        }
        #expect(Route.unsupported("socks5").avoiding(loopbackPort: 8080) == .unsupported("socks5"))
    }

    @Test("HTTP_PROXY in upper case is ignored, because a client of a CGI server can set it")
    func httpoxy() {
        #expect(route(["HTTP_PROXY": "http://proxy.test:3128"]) == .direct)
    }

    @Test("all_proxy applies to what has no variable of its own")
    func all() {
        for name in ["all_proxy", "ALL_PROXY"] {
            #expect(route([name: "proxy.test:3128"]) == .absoluteForm(proxy))
            #expect(route([name: "proxy.test:3128"], secure: true) == .tunnel(proxy))
            #expect(route([name: "proxy.test:3128", "http_proxy": ""]) == .absoluteForm(proxy))
            #expect(route([name: "x.test", "http_proxy": "proxy.test:3128"]) == .absoluteForm(proxy))
        }
    }

    @Test(
        "A proxy without a port has port 1080, as in libcurl",
        arguments: ["p.test", "http://p.test", "http://p.test:/"]
    )
    func defaultPort(text: String) {
        #expect(route(["http_proxy": text]) == .absoluteForm(Route.Proxy(host: "p.test", port: 1080)))
    }

    @Test("User and password are decoded and become Basic")
    func userinfo() {
        let expected = Route.Proxy(host: "p.test", port: 8, authorization: "Basic dXNAZXI6cDp3")
        #expect(route(["http_proxy": "http://us%40er:p%3Aw@p.test:8"]) == .absoluteForm(expected))
        let alone = Route.Proxy(host: "p.test", port: 8, authorization: "Basic dXNlcjo=")
        #expect(route(["http_proxy": "user@p.test:8"]) == .absoluteForm(alone))
        #expect(route(["http_proxy": "@p.test:8"]) == .absoluteForm(Route.Proxy(host: "p.test", port: 8)))
    }

    @Test("An IPv6 proxy stands in brackets")
    func ipv6() {
        #expect(route(["http_proxy": "http://[::1]:81"]) == .absoluteForm(Route.Proxy(host: "::1", port: 81)))
    }

    @Test(
        "Proxies of other kinds, and addresses that cannot be read, are unsupported",
        arguments: [
            ("https://p.test", "of the kind https, which is not supported"),
            ("socks5h://user:secret@p.test", "of the kind socks5h, which is not supported"),
            ("SOCKS4://p.test", "of the kind socks4, which is not supported"),
            ("ftp://p.test", "of the kind ftp, which is not supported"), ("://bad", "whose kind is not supported"),
            ("user:secret://p.test", "whose kind is not supported"),
            ("http://user:secret@p.test:x", "whose port is not a number from 1 to 65535"),
            ("http://p.test:70000", "whose port is not a number from 1 to 65535"),
            ("http://user:secret@", "whose host is missing or cannot be read"),
            ("http://", "whose host is missing or cannot be read"),
            ("http://[::1", "whose host is missing or cannot be read"),
            ("http://[::1]81", "whose host is missing or cannot be read"),
            ("http://a b", "whose host is missing or cannot be read"),
        ]
    )
    func unsupported(text: String, reason: String) {
        #expect(route(["http_proxy": text]) == .unsupported(reason))
        #expect(TransportFailure.unsupported(reason).explanation.contains("names a proxy \(reason). "))
    }

    @Test(
        "Hosts in no_proxy are reached directly",
        arguments: [
            ("*", "any.test"), ("origin.test", "ORIGIN.test"), (".origin.test", "origin.test"), ("test", "origin.test"),
            ("a.test, origin.test", "www.origin.test"), ("a.test origin.test", "origin.test"),
            ("origin.test.", "origin.test"), ("origin.test", "origin.test."), ("127.0.0.1", "127.0.0.1"),
            ("127.0.0.0/8", "127.9.9.9"), ("10.1.0.0/20", "10.1.15.255"), ("::1", "[::1]"), ("[::1]", "::1"),
            ("2001:db8::/33", "2001:db8:7fff::1"),
        ]
    )
    func exceptions(list: String, host: String) {
        for name in ["no_proxy", "NO_PROXY"] {
            #expect(route(["all_proxy": "proxy.test:3128", name: list], host) == .direct)
            #expect(route(["all_proxy": "proxy.test:3128", name: list], host, secure: true) == .direct)
        }
    }

    @Test(
        "Other hosts are not",
        arguments: [
            ("x,*", "any.test"), ("igin.test", "origin.test"), ("www.origin.test", "origin.test"),
            ("origin.test:80", "origin.test"), ("127.0.0.0/8", "128.0.0.1"), ("10.1.0.0/20", "10.1.16.0"),
            ("10.1.0.0/99", "10.1.0.0"), ("0.0.0.0/0", "1.2.3.4"), ("2001:db8::/33", "2001:db8:8000::1"),
            ("1.2.3.4", "www.1.2.3.4.test"), ("", "any.test"), (".", "any.test"),
        ]
    )
    func noExceptions(list: String, host: String) {
        #expect(route(["all_proxy": "proxy.test:3128", "no_proxy": list], host) == .absoluteForm(proxy))
    }
}
#endif
