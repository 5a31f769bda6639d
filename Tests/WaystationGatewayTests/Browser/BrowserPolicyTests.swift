#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationNIO
import WaystationTestSupport
import WaystationTesting

/// Pages of an origin with https, whose policies Chromium enforces at the gateway.
@Suite("The content security policy of a page in a browser", .timeLimit(.minutes(10)))
struct BrowserPolicyTests {
    /// A page that shows an image and runs a script of another host, and then runs a script of its own.
    ///
    /// - Parameters:
    ///   - policy: The policy for a `meta` element; nil for none.
    ///   - other: The origin of the image and the other script.
    /// - Returns: The markup.
    private static func page(_ policy: String?, other: String) -> String {
        """
        <!doctype html>\(policy.map { "<meta http-equiv=content-security-policy content=\"\($0)\">" } ?? "")
        <link rel=icon href=/icon.svg><img src="\(other)/picture.svg"><script src="\(other)/classic.js"></script>
        <script src=/run.js></script>
        """
    }

    /// The page's own script, which loads data by `fetch` and by a web socket, and sets the page's result.
    private static let script = """
        (async () => {
            if (document.readyState !== "complete") await new Promise(done => addEventListener("load", done));
            const image = document.images[0];
            const own = await (await fetch("/data")).text();
            const other = await (await fetch(new URL("/data", image.src), { mode: "no-cors" })).type;
            const socket = new WebSocket(`ws://${location.host}/socket`);
            const message = await new Promise((done, fail) => {
                socket.onopen = () => socket.send("hello");
                socket.onmessage = event => done(event.data);
                socket.onerror = () => fail("the web socket failed");
            });
            return [window.classic ?? "blocked", image.naturalWidth, own, other, message];
        })().catch(error => "failed: " + error).then(result => { window.result = result });
        """

    /// The loads of a page with a policy, and their results.
    private struct Outcome {
        let policy: String
        let result: JSONValue
        /// The errors of this page.
        let errors: [String]
    }

    /// Shows the page in a browser with each policy in turn, as a field and in the page itself.
    ///
    /// - Parameter policies: The policies, for an origin at a port.
    /// - Returns: The outcomes.
    /// - Throws: An error when a page sets no result.
    private func outcomes(_ policies: (_ port: Int) -> [String]) async throws -> [Outcome] {
        let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='7' height='7'/>"
        let origin = try await SecuredOrigin { request in
            switch request.path {
            case "/socket": return .webSocketEcho
            case "/run.js": return .ok(Self.script, fields: ["Content-Type": "text/javascript"])
            case "/icon.svg": return .ok(picture, fields: ["Content-Type": "image/svg+xml"])
            case "/data": return .ok("data")
            default:
                let policy = request.query("policy") ?? ""
                let isField = request.path == "/field"
                let page = Self.page(isField ? nil : policy, other: "https://shop.example")
                return isField
                    ? .ok(page, fields: ["Content-Type": "text/html", "Content-Security-Policy": policy])
                    : .ok(page, fields: ["Content-Type": "text/html"])
            }
        }
        let host = "https://localhost:\(origin.port)"
        let files = ["classic.js": "window.classic = 42", "picture.svg": picture, "data": "data"]
        let fixture = try await GatewayFixture(files: files) {
            $0.rewritesLinks = true
        } interceptor: {
            $0.rules.append(.allow("\(host)/**", via: .network))
            $0.transport = .nio(origin.options)
        }
        var outcomes: [Outcome] = []
        try await fixture.browse { page in
            for policy in policies(origin.port) {
                for path in ["field", "page"] {
                    var url = try #require(URLComponents(string: "\(host)/\(path)"))
                    url.queryItems = [URLQueryItem(name: "policy", value: policy)]
                    let remote = try #require(url.url)
                    let earlier = page.consoleErrors.count
                    try await page.open(try #require(fixture.gateway.url(for: remote)))
                    try await page.waitUntil(GatewayFixture.hasResult)
                    outcomes.append(
                        Outcome(
                            policy: "\(policy) in the \(path)",
                            result: try await page.evaluate("result"),
                            errors: Array(page.consoleErrors[earlier...])
                        )
                    )
                }
            }
        }
        return outcomes
    }

    @Test("lets a page load a script and an image, fetch, and open a web socket through the gateway")
    func admitted() async throws {
        let outcomes = try await outcomes { port in
            [
                "default-src https: wss:", "default-src https: 'self'",
                "default-src https://localhost:\(port) wss://localhost:\(port) https://shop.example",
                "default-src localhost:\(port) shop.example; connect-src https://*:\(port) wss://*:\(port) https://*.example",
                """
                default-src 'none'; script-src https://localhost:\(port)/run.js https://*.example/classic.js; \
                img-src http: https://localhost:\(port); connect-src https://* https://*:* ws: wss:
                """,
            ]
        }
        for outcome in outcomes {
            #expect(outcome.result == [42, 7, "data", "opaque", "hello"], "\(outcome.policy)")
            #expect(outcome.errors == [], "\(outcome.policy)")
        }
    }

    @Test("still keeps a page from loading what its origin does not allow")
    func refused() async throws {
        let outcomes = try await outcomes { port in
            [
                "default-src https:; connect-src *; script-src https://localhost:\(port)",
                "default-src https:; connect-src *; script-src https://localhost:\(port) https://*.shop.example",
                "default-src https:; connect-src *; script-src 'self' https://*:1 https://shop.example/other/",
            ]
        }
        for outcome in outcomes {
            #expect(outcome.result == ["blocked", 7, "data", "opaque", "hello"], "\(outcome.policy)")
            #expect(outcome.errors.count == 1, "\(outcome)")
            #expect(outcome.errors.allSatisfy { $0.contains("/classic.js") }, "\(outcome)")
        }
    }
}
#endif
