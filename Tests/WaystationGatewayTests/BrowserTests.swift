#if Gateway
import Foundation
import Testing
import Waystation
import WaystationCookies
import WaystationGateway
@_spi(Processes) import WaystationTesting

/// Chromium itself loads pages from a gateway.
@Suite("A browser", .timeLimit(.minutes(10)))
struct BrowserTests {
    /// An origin to which pages report what they found.
    private let reports: ScriptedOrigin

    init() throws { reports = try ScriptedOrigin { _ in .ok() } }

    /// Shows a page until it has reported.
    ///
    /// - Parameters:
    ///   - host: The gateway's name for the page's origin.
    ///   - origin: The origin that gets the report.
    /// - Returns: The text of the report.
    /// - Throws: An error when Chromium cannot be started.
    private func report(ofPageAt host: String, to origin: ScriptedOrigin) async throws -> String {
        let profile = FileManager.default.temporaryDirectory.appending(path: "chromium-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: profile) }
        // The program itself, because the script of this name does not pass signals on.
        let browser = try SpawnedProcess(
            "/usr/lib/chromium/chromium-headless-shell",
            [
                "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=\(profile.path)",
                "--remote-debugging-port=0", "http://\(host)/",
            ]
        )
        defer {
            // It ends its own child processes, too.
            browser.send(SIGTERM)
            browser.wait()
        }
        var requests: [ScriptedOrigin.Request] = []
        while true {
            requests = await origin.waitForRequests(requests.count + 1)
            if let report = requests.first(where: { $0.path == "/report" }) {
                return String(decoding: report.body, as: UTF8.self)
            }
        }
    }

    /// A page whose script reports to `to`, by the gateway's name.
    private static func page(_ to: String, _ script: String) -> String {
        """
        <!doctype html><link rel=stylesheet href=style.css><p id=result>nothing</p>
        <script type=module>
        const report = text => fetch("http://\(to)/report", { method: "POST", mode: "no-cors", body: text });
        try { \(script) } catch (error) { report("failed: " + error) }
        </script>
        """
    }

    @Test("shows a page with its styles, modules, WebAssembly and service worker, without a network")
    func offline() async throws {
        let fixture = try await GatewayFixture(
            files: [
                "module.js": "export const answer = 41 + 1",
                "style.css": "#result { color: rgb(1, 2, 3) }",
                "data.json": "{\"ok\": true}",
                "worker.js": "self.addEventListener('fetch', () => {})",
            ],
            origin: reports
        )
        let page = Self.page(
            fixture.name(of: reports),
            """
            const { answer } = await import("./module.js");
            const style = getComputedStyle(document.getElementById("result")).color;
            const wasm = await WebAssembly.instantiateStreaming(fetch("/answer.wasm"));
            await navigator.serviceWorker.register("/worker.js");
            const worker = await navigator.serviceWorker.ready;
            const json = await (await fetch("data.json")).json();
            const part = await fetch("data.json", { headers: { Range: "bytes=0-1" } });
            report([answer, style, wasm.instance.exports.a(), worker.active !== null, json.ok, part.status,
                isSecureContext, location.host].join(" "));
            """
        )
        try fixture.write(Data(page.utf8), to: "index.html")
        try fixture.write(Self.wasm, to: "answer.wasm")
        let report = try await report(ofPageAt: fixture.shop, to: reports)
        #expect(report == "42 rgb(1, 2, 3) 42 true true 206 true \(fixture.shop)")
    }

    /// A WebAssembly module whose function `a` returns 42.
    private static let wasm = Data([
        0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7f, 0x03, 0x02, 0x01,
        0x00, 0x07, 0x05, 0x01, 0x01, 0x61, 0x00, 0x00, 0x0a, 0x06, 0x01, 0x04, 0x00, 0x41, 0x2a, 0x0b,
    ])

    @Test("shares the cookies that pages may read with the app, in both directions")
    func cookies() async throws {
        let store = CookieStore()
        try store.insert(
            Cookie(name: "theme", value: "dark", domain: "shop.example", isHostOnly: true, creation: Date())
        )
        try store.insert(
            Cookie(
                name: "token",
                value: "secret",
                domain: "shop.example",
                isHostOnly: true,
                isHTTPOnly: true,
                creation: Date()
            )
        )
        let fixture = try await GatewayFixture(files: ["again": ""], origin: reports, cookies: store)
        let page = Self.page(
            fixture.name(of: reports),
            """
            document.cookie = "cart=3";
            await fetch("/again");
            report(document.cookie.split("; ").sort().join(" "));
            """
        )
        try fixture.write(Data(page.utf8), to: "index.html")
        #expect(try await report(ofPageAt: fixture.shop, to: reports) == "cart=3 theme=dark")
        #expect(Set(store.cookies.map(\.pair)) == ["theme=dark", "token=secret", "cart=3"])
    }

    @Test("sends a form to its origin, follows the redirect, and shows its answer")
    func form() async throws {
        let origin = try ScriptedOrigin { request in
            switch (request.method, request.path) {
            case ("GET", "/"):
                .ok(
                    """
                    <form method=post action=/order enctype=multipart/form-data><input name=what value="two &amp; three">
                    </form><script>document.forms[0].submit()</script>
                    """,
                    fields: ["Content-Type": "text/html"]
                )
            case ("POST", "/order"): .redirect(303, to: "/done")
            case ("GET", "/done"):
                .ok(
                    "<script>fetch('/report', { method: 'POST', body: location.host + location.pathname })</script>",
                    fields: ["Content-Type": "text/html"]
                )
            default: .ok()
            }
        }
        let fixture = try await GatewayFixture(origin: origin)
        let name = fixture.name(of: origin)
        #expect(try await report(ofPageAt: name, to: origin) == name + "/done")
        let order = try #require(origin.requests.first { $0.path == "/order" })
        #expect(String(decoding: order.body, as: UTF8.self).contains("two & three"))
        #expect(order.value(of: "Origin") == "http://127.0.0.1:\(origin.port)")
    }
}
#endif
