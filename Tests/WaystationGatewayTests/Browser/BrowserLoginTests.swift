#if Gateway
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationTestSupport
import WaystationTesting

/// Chromium and the app's own session share one login.
@Suite("The login of a page in a browser", .timeLimit(.minutes(10)))
struct BrowserLoginTests {
    private let store = CookieStore(rules: CookieRules(isTrustworthyLoopback: true))

    /// A page that requests two others behind the login at once; `result` has their texts.
    private static let page = GatewayFixture.page(
        """
        const texts = ["/orders?needAuth=true", "/wishes?needAuth=true"].map(async path => (await fetch(path)).text());
        window.unmarked = await (await fetch("/open")).text();
        return [...await Promise.all(texts), unmarked];
        """
    )

    /// Answers with the path, and with the token that the request carried.
    private static func origin() throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            guard request.path != "/" else { return .ok(page, fields: ["Content-Type": "text/html"]) }
            let token = request.value(of: "Cookie")?.components(separatedBy: "; ").first { $0.hasPrefix("token=") }
            return .ok("\(request.path) \(token ?? "absent")")
        }
    }

    @Test("waits for one sign-in together with a load of the app's session, while unmarked requests are answered")
    func oneSignIn() async throws {
        let origin = try Self.origin()
        let signIns = Mutex(0)
        let (form, submit) = AsyncStream.makeStream(of: Never.self)
        let login = LoginSession(
            cookie: .named("token", domain: "127.0.0.1", isHostOnly: true),
            timeout: .seconds(600)
        ) {
            signIns.withLock { $0 += 1 }
            // The user fills in the form when the test lets the stream end.
            for await _ in form {}
            return "t1"
        }
        let fixture = try await GatewayFixture(cookies: store) {
            _ in
        } interceptor: {
            $0.rules = [.allow("\(origin.url())**", via: .network, requiresLogin: .marked)]
            $0.login = login
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: fixture.interceptor))
        defer { session.finishTasksAndInvalidate() }
        try await fixture.browse { page in
            // The app's own load begins the sign-in, and the page joins it.
            async let native = session.data(
                for: URLRequest(url: origin.url("/profile?needAuth=true"), timeoutInterval: 600)
            )
            #expect(await eventually { signIns.withLock { $0 } == 1 })
            try await page.open(fixture.url(at: fixture.name(of: origin)))
            // The unmarked request was sent last, and is answered.
            try await page.waitUntil("window.unmarked === '/open absent'")
            #expect(!origin.requests.contains { $0.target.contains("needAuth") })
            submit.finish()
            try await page.waitUntil("Array.isArray(window.result)")
            #expect(try await page.evaluate("result") == ["/orders token=t1", "/wishes token=t1", "/open absent"])
            #expect(String(decoding: try await native.0, as: UTF8.self) == "/profile token=t1")
            // The token is the app's: no script of a page can read it.
            #expect(try await page.evaluate("document.cookie") == "")
        }
        #expect(signIns.withLock { $0 } == 1)
    }

    @Test("ends with a log-out of the app: neither the browser nor the app has a cookie of it")
    func logOut() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/"
                ? .ok(
                    GatewayFixture.page("return 'shown'"),
                    fields: ["Content-Type": "text/html", "Set-Cookie": "seen=1"]
                )
                : .ok(request.value(of: "Cookie") ?? "none")
        }
        let login = LoginSession(
            cookie: .named("token", domain: "127.0.0.1", isHostOnly: true),
            timeout: .minutes(5)
        ) { "t1" }
        let fixture = try await GatewayFixture(cookies: store) {
            _ in
        } interceptor: {
            $0.rules = [.allow("\(origin.url())**", via: .network, requiresLogin: .marked)]
            $0.login = login
        }
        try await fixture.show(at: fixture.name(of: origin)) { page in
            try store.insert(
                Cookie(name: "theme", value: "dark", domain: "127.0.0.1", isHostOnly: true, creation: Date())
            )
            try await page.evaluate("document.cookie = 'cart=3'")
            let sent = try await page.evaluate("await (await fetch('/cookies?needAuth=true')).text()")
            #expect(Self.names(sent.string) == ["cart", "seen", "theme", "token"])
            #expect(Self.names(try await page.evaluate("document.cookie").string) == ["cart", "seen", "theme"])
            #expect(store.cookies.count == 4)

            await login.logOut()
            #expect(store.cookies.isEmpty)
            // The next response removes what the browser has, whatever the browser still sends.
            #expect(try await page.evaluate("await (await fetch('/cookies')).text()") == "none")
            #expect(try await page.evaluate("document.cookie") == "")
            #expect(try await page.evaluate("await (await fetch('/cookies')).text()") == "none")
            let kept = try await page.send("Network.getCookies")["cookies"].elements.map { $0["name"] }
            #expect(kept == ["waystation-browser"])

            // A page that is opened after the log-out may set the same cookie again.
            #expect(store.cookies.isEmpty)
            try await page.open(fixture.url(at: fixture.name(of: origin)))
            try await page.evaluate("document.cookie = 'cart=3'")
            let again = try await page.evaluate("await (await fetch('/cookies')).text()")
            #expect(Self.names(again.string) == ["cart", "seen"])
        }
    }

    /// The names of cookies in a `Cookie` field.
    private static func names(_ field: String?) -> Set<String> {
        Set((field ?? "").components(separatedBy: "; ").map { String($0.prefix { $0 != "=" }) })
    }
}
#endif
