#if Gateway
import NIOHTTP1
import Testing

@testable import WaystationGateway

/// Sources of policies, matched as CSP Level 3 §6.7.2 says, with a gateway at port 8080.
@Suite("The content security policy of a page")
struct ContentSecurityPolicyTests {
    /// The policy as the gateway sends it, as a field and in the page.
    private func local(_ policy: String, scheme: String = "https") -> [String?] {
        var rewriting = RewritingOfText()
        let origin = OriginName(scheme: scheme, host: "www.page.example", port: 444)
        rewriting.links = Links(names: LocalNames(port: 8080), scheme: scheme, page: origin) { _ in false }
        let translation = ResponseTranslation(links: rewriting.links, isNamed: true, rewritesLinks: false)
        let fields = translation.fields(["Content-Security-Policy": policy], isCoded: false)
        let (start, end) = ("<meta http-equiv=content-security-policy content=\"", "\">")
        let page = rewriting(start + policy + end)
        return [fields.first(name: "Content-Security-Policy"), String(page.dropFirst(start.count).dropLast(end.count))]
    }

    @Test(
        "admits the gateway's names beside each source",
        arguments: [
            // Schemes (§6.7.2.9).
            ("https:", "http://*.localhost:8080"), ("HTTPS:", "http://*.localhost:8080"),
            ("wss:", "ws://*.localhost:8080"),
            // Hosts.
            ("https://shop.example", "http://shop-example.localhost:8080"),
            ("https://Shop.Example:8443/a/b", "http://shop-example-8443.localhost:8080/a/b"),
            ("https://shop.example:443/", "http://shop-example.localhost:8080/"),
            // A path may end in a colon.
            ("https://a/b:c:d:", "http://a.localhost:8080/b:c:d:"),
            ("https://127.0.0.1:8000", "http://127-0-0-1-8000.localhost:8080"),
            ("wss://shop.example/live", "ws://shop-example.localhost:8080/live"),
            // A source with http also admits https, and one with ws also admits wss.
            ("http://shop.example", "http://shop-example-http.localhost:8080 http://shop-example.localhost:8080"),
            (
                "http://shop.example:81/a",
                "http://shop-example-81-http.localhost:8080/a http://shop-example-81.localhost:8080/a"
            ),
            // Port 80 also admits https at port 443 (§6.7.2.11).
            ("http://shop.example:80", "http://shop-example-http.localhost:8080 http://shop-example.localhost:8080"),
            ("ws://shop.example:80/a", "ws://shop-example-http.localhost:8080/a ws://shop-example.localhost:8080/a"),
            ("http://*:80", "http://*.localhost:8080"),
            ("https://shop.example:80", "http://shop-example-80.localhost:8080"),
            ("https://*:443", "http://*.localhost:8080"),
            ("ws://shop.example", "ws://shop-example-http.localhost:8080 ws://shop-example.localhost:8080"),
            // A source without a scheme has that of the page, at the origin as at the gateway.
            ("shop.example", "shop-example.localhost:8080"),
            ("shop.example:8443/a/", "shop-example-8443.localhost:8080/a/"),
            // Wildcards (§6.7.2.10).
            ("https://*.shop.example", "http://*.shop-example.localhost:8080"),
            ("*.shop.example/a", "*.shop-example.localhost:8080/a"),
            ("wss://*.shop.example:8443", "ws://*.shop-example-8443.localhost:8080"),
            ("https://*", "http://*.localhost:8080"), ("http://*", "http://*.localhost:8080"),
            ("https://*.example/a", "http://*.localhost:8080/a"), ("https://*.co.uk", "http://*.localhost:8080"),
            // Of the hosts below amazonaws.com, those below s3.amazonaws.com are sites of their own.
            ("*.amazonaws.com", "*.localhost:8080"), ("https://*.github.io:443", "http://*.localhost:8080"),
            ("https://*.me.github.io", "http://*.me-github-io.localhost:8080"),
            // Of several sites at a port, the page's own origin is the only one whose name is known.
            ("https://*:444", "http://www.page-example-444.localhost:8080"),
            ("https://*.example:444/a", "http://www.page-example-444.localhost:8080/a"),
            ("http://*:444", "http://www.page-example-444.localhost:8080"),
            // Of any port, the gateway has a name for the scheme's own one only (§6.7.2.11).
            ("https://shop.example:*", "http://shop-example.localhost:8080"),
            ("https://*:*", "http://*.localhost:8080"),
        ]
    )
    func sources(source: String, local: String) {
        let expected = "default-src 'self' \(source) \(local) data:"
        #expect(self.local("default-src 'self' \(source) data:") == [expected, expected])
    }

    @Test("gets the names of http and of https for a source without a scheme, if the page has http")
    func plainPage() {
        let expected = "img-src a.example a-example-http.localhost:8080 a-example.localhost:8080"
        #expect(local("img-src a.example", scheme: "http") == [expected, expected])
    }

    @Test(
        "stays as it is if the gateway adds no name to its sources",
        arguments: [
            "default-src * 'self' 'unsafe-inline' data: blob: filesystem: http: ws:", "img-src 'none'",
            "script-src 'nonce-YQ==' 'sha256-YWJj' 'strict-dynamic'", "img-src https://[::1]:8443 https://127.1",
            "img-src https://*:8443 https://*.other:444 wss://*.co.uk:8443",
            "img-src https://shop.example:080 ftp://shop.example app: https:// :8443 *.",
            "sandbox allow-scripts", "report-uri https://shop.example/reports", "report-to default",
            "trusted-types default shop.example", "require-trusted-types-for 'script'", "plugin-types a/b",
        ]
    )
    func unchanged(policy: String) { #expect(local(policy) == [policy, policy]) }

    @Test("has the names in the directives for frames, forms and base URLs too")
    func directives() {
        for name in ["frame-ancestors", "form-action", "base-uri", "script-src-elem", "style-src-attr", "IMG-SRC"] {
            let expected = "\(name) https: http://*.localhost:8080"
            #expect(local("\(name) https:") == [expected, expected])
        }
    }

    @Test("keeps the references and characters of a path in the markup of a page")
    func paths() {
        let tag = "<meta http-equiv=content-security-policy content="
        #expect(
            RewritingOfText()(tag + "\"img-src https://*.example/&quot;&#97;/\u{e9}/\">")
                == tag + "\"img-src https://*.example/&quot;&#97;/\u{e9}/ "
                + "http://*.localhost:8080/&quot;&#97;/\u{e9}/\">"
        )
        let invalid = Array((tag + "\"img-src https://a.example/").utf8) + [0xff] + Array("\">".utf8)
        #expect(RewritingOfText()(invalid) == invalid)
    }
}
#endif
