#if Gateway
import Foundation
import Testing
import Waystation
import WaystationCookies
import WaystationGateway
import WaystationTestSupport
import WaystationTesting

/// Chromium itself loads pages from a gateway.
@Suite("A browser", .timeLimit(.minutes(10)))
struct BrowserTests {
    @Test("shows a page with its styles, modules, WebAssembly and service worker, without a network")
    func offline() async throws {
        let fixture = try await GatewayFixture(
            files: [
                "module.js": "export const answer = 41 + 1",
                "style.css": "#result { color: rgb(1, 2, 3) }",
                "data.json": "{\"ok\": true}",
                "worker.js": "self.addEventListener('fetch', () => {})",
            ]
        )
        let page = GatewayFixture.page(
            """
            const { answer } = await import("./module.js");
            const style = getComputedStyle(document.getElementById("result")).color;
            const wasm = await WebAssembly.instantiateStreaming(fetch("/answer.wasm"));
            await navigator.serviceWorker.register("/worker.js");
            const worker = await navigator.serviceWorker.ready;
            const json = await (await fetch("data.json")).json();
            const part = await fetch("data.json", { headers: { Range: "bytes=0-1" } });
            return [answer, style, wasm.instance.exports.a(), worker.active !== null, json.ok, part.status,
                isSecureContext, location.host];
            """
        )
        try fixture.write(Data(page.utf8), to: "index.html")
        try fixture.write(Self.wasm, to: "answer.wasm")
        try await fixture.show { page in
            let result = try await page.evaluate("result")
            #expect(result == [42, "rgb(1, 2, 3)", 42, true, true, 206, true, .string(fixture.shop)])
        }
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
        let fixture = try await GatewayFixture(files: ["again": ""], cookies: store)
        let page = GatewayFixture.page(
            """
            document.cookie = "cart=3";
            await fetch("/again");
            return document.cookie.split("; ").sort();
            """
        )
        try fixture.write(Data(page.utf8), to: "index.html")
        try await fixture.show { page in
            let result = try await page.evaluate("result")
            #expect(result == ["cart=3", "theme=dark"])
        }
        #expect(Set(store.cookies.map(\.pair)) == ["theme=dark", "token=secret", "cart=3"])
    }

    @Test("opens a web socket to the origin of its page")
    func webSocket() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/socket": .webSocketEcho
            case "/":
                .ok(
                    """
                    <script>
                    const socket = new WebSocket("ws://" + location.host + "/socket");
                    socket.onopen = () => socket.send("hello");
                    socket.onmessage = event => { window.result = event.data };
                    </script>
                    """,
                    fields: ["Content-Type": "text/html"]
                )
            default: .ok()
            }
        }
        let fixture = try await GatewayFixture(origin: origin)
        try await fixture.show(at: fixture.name(of: origin)) { page in
            let result = try await page.evaluate("result")
            #expect(result == "hello")
        }
        let request = try #require(origin.requests.first { $0.path == "/socket" })
        #expect(request.value(of: "Origin") == "http://127.0.0.1:\(origin.port)")
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
                    "<script>result = location.host + location.pathname</script>",
                    fields: ["Content-Type": "text/html"]
                )
            default: .ok()
            }
        }
        let fixture = try await GatewayFixture(origin: origin)
        let name = fixture.name(of: origin)
        try await fixture.show(at: name) { page in
            let result = try await page.evaluate("result")
            #expect(result == .string(name + "/done"))
        }
        let order = try #require(origin.requests.first { $0.path == "/order" })
        #expect(String(decoding: order.body, as: UTF8.self).contains("two & three"))
        #expect(order.value(of: "Origin") == "http://127.0.0.1:\(origin.port)")
    }

    @Test("follows absolute links within a gateway that rewrites them: pictures, style sheets, scripts and links")
    func absoluteLinks() async throws {
        let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='7' height='7'/>"
        let fixture = try await GatewayFixture(
            files: [
                "style.css": """
                \u{40}import 'https://shop.example/more.css';
                #result { background: url(https://shop.example/background.svg) }
                """,
                "more.css": "#result { color: rgb(1, 2, 3) }", "classic.js": "var classic = 42", "a.svg": picture,
                "b.svg": picture, "background.svg": picture, "inline.svg": picture,
            ]
        ) { $0.rewritesLinks = true }
        let page = """
            <!doctype html><link rel=stylesheet href="https://shop.example/style.css">
            <meta http-equiv=content-security-policy content="img-src https://shop.example">
            <p id=result style="border-image: url(&quot;https://shop.example/inline.svg&quot;) 1">nothing</p>
            <img src=https:\\\\shop.example/a.svg><img srcset="https://shop.example/b.svg 1x, /none.svg 9x">
            <script src="//shop.example/classic.js"></script><a href="&#104;ttps://shop.example/next?a&amp;b#c">next</a>
            """
        let script = """
            if (document.readyState !== "complete") await new Promise(done => addEventListener("load", done));
            const paint = getComputedStyle(document.getElementById("result")).color;
            const widths = [...document.images].map(image => image.naturalWidth);
            const loaded = performance.getEntriesByType("resource").map(entry => new URL(entry.name));
            return [classic, paint, ...widths, document.querySelector("a").href,
                loaded.every(url => url.host === location.host),
                ...loaded.map(url => url.pathname).sort()].join(" ");
            """
        try fixture.write(Data((page + GatewayFixture.page(script)).utf8), to: "index.html")
        let expected = """
            42 rgb(1, 2, 3) 7 7 http://\(fixture.shop)/next?a&b#c true \
            /a.svg /b.svg /background.svg /classic.js /inline.svg /more.css /style.css
            """
        try await fixture.show { page in
            let result = try await page.evaluate("result")
            #expect(result == .string(expected))
        }
    }
}
#endif
