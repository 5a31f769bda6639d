#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationGateway
import WaystationPacks
import WaystationTestSupport
import WaystationTesting

/// Chromium itself loads pages from a gateway.
@Suite("A browser", .timeLimit(.minutes(10)))
struct BrowserTests {
    @Test("shows a page of a pack with style, module, WebAssembly, font and service worker while its origin is down")
    func offline() async throws {
        let origin = try ScriptedOrigin { _ in .status(404) }
        origin.stop()
        let base = origin.url().absoluteString
        let page = GatewayFixture.page(
            """
            const { answer } = await import("./module.js");
            const style = getComputedStyle(document.getElementById("result")).color;
            const wasm = await WebAssembly.instantiateStreaming(fetch("/sum.wasm"));
            const [font] = await document.fonts.load("20px 'Font of the pack'");
            const isControlled = navigator.serviceWorker.controller !== null;
            const control = new Promise(done => navigator.serviceWorker.oncontrollerchange = done);
            await navigator.serviceWorker.register("/worker.js");
            if (!isControlled) await control;
            const json = await (await fetch("data.json")).json();
            const part = await fetch("data.json", { headers: { Range: "bytes=0-1" } });
            return [isControlled, answer, style, wasm.instance.exports.sum(40, 2), font?.status,
                document.fonts.check("20px 'Font of the pack'"),
                new URL(navigator.serviceWorker.controller.scriptURL).pathname,
                await (await fetch("/asked-of-the-worker")).text(), json.ok, part.status, isSecureContext, location.host];
            """
        )
        let files = [
            "index.html": page, "module.js": "export const answer = 41 + 1", "data.json": "{\"ok\": true}",
            "style.css": """
            \u{40}font-face { font-family: "Font of the pack"; src: url(font.ttf) }
            #result { color: rgb(1, 2, 3) }
            """,
            "worker.js": """
            self.addEventListener("install", () => skipWaiting());
            self.addEventListener("activate", event => event.waitUntil(clients.claim()));
            self.addEventListener("fetch", event => {
                if (new URL(event.request.url).pathname !== "/asked-of-the-worker") return;
                event.respondWith(new Response("the worker answers"));
            });
            """,
        ]
        let packs = try PackFixture()
        var contents = files.mapValues { Data($0.utf8) }
        contents["sum.wasm"] = Self.wasm
        contents["font.ttf"] = try Data(contentsOf: URL(filePath: Self.font))
        try await packs.install(contents, at: base)
        let fixture = try await GatewayFixture { _ in
        } interceptor: {
            $0.rules = [.allow("\(base)**", via: .pack(orElse: .network))]
            $0.packs = packs.library
        }
        let host = fixture.name(of: origin)
        try await fixture.show(at: host) { page in
            let rest: [JSONValue] = [
                42, "rgb(1, 2, 3)", 42, "loaded", true, "/worker.js", "the worker answers", true, 206, true,
                .string(host),
            ]
            #expect(try await page.evaluate("result") == .array([false] + rest))
            // The worker is also there before the page.
            try await page.send("Page.reload")
            try await page.waitUntil("window.result?.[0] === true || typeof result === 'string'")
            #expect(try await page.evaluate("result") == .array([true] + rest))
            #expect(page.consoleErrors == [])
        }
    }

    /// A font of `fonts-dejavu-core`, which the page knows by the name that its style sheet gives it.
    private static let font = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"

    /// A WebAssembly module whose function `sum` adds two numbers.
    private static let wasm = Data([
        0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x07, 0x01, 0x60, 0x02, 0x7f, 0x7f, 0x01, 0x7f, 0x03,
        0x02, 0x01, 0x00, 0x07, 0x07, 0x01, 0x03, 0x73, 0x75, 0x6d, 0x00, 0x00, 0x0a, 0x09, 0x01, 0x07, 0x00, 0x20,
        0x00, 0x20, 0x01, 0x6a, 0x0b,
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

    @Test("gets each event of its origin as it is sent, and ends the origin's response when it has enough")
    func events() async throws {
        let (second, end) = (try ScriptedOrigin.Gate(), try ScriptedOrigin.Gate())
        let page = GatewayFixture.page(
            """
            const events = new EventSource("/events");
            const data = [];
            await new Promise((done, fail) => {
                events.onerror = () => fail("the events ended");
                events.onmessage = async event => {
                    data.push(event.data);
                    if (data.length === 2) done();
                    // The origin sends the second event when this request has arrived.
                    else await fetch("/received", { method: "POST", body: event.data });
                };
            });
            events.close();
            return data;
            """
        )
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/": return .ok(page, fields: ["Content-Type": "text/html"])
            case "/events":
                return .stream(
                    [
                        .bytes(Data("data: one\n\n".utf8)), .wait(second), .bytes(Data("data: two\n\n".utf8)),
                        .wait(end),
                    ],
                    fields: ["Content-Type": "text/event-stream"]
                )
            case "/received":
                second.open()
                return .status(204)
            default: return .ok("", fields: ["Content-Type": "text/css"])
            }
        }
        let fixture = try await GatewayFixture(origin: origin)
        try await fixture.show(at: fixture.name(of: origin)) { page in
            let result = try await page.evaluate("result")
            #expect(result == ["one", "two"])
            // The page is still open: its `close()` alone has ended the response.
            #expect(await eventually { origin.abandonedRequests.map(\.path) == ["/events"] })
            #expect(page.consoleErrors == [])
        }
        let received = origin.requests.filter { $0.path == "/received" }
        #expect(received.map { String(decoding: $0.body, as: UTF8.self) } == ["one"])
        #expect(origin.requests.count { $0.path == "/events" } == 1)
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
