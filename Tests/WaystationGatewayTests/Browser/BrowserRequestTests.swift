#if Gateway
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationGateway
import WaystationTestSupport
import WaystationTesting

/// Requests that Chromium makes for a page, and that the rules change.
@Suite("The requests of a page in a browser", .timeLimit(.minutes(10)))
struct BrowserRequestTests {
    private static func html(_ body: String) -> ScriptedOrigin.Response {
        .ok(
            "<!doctype html><link rel=icon href=\"data:,\">" + body,
            fields: ["Content-Type": "text/html; charset=utf-8"]
        )
    }

    @Test("carry a body in a header, which arrives at the origin as the body")
    func headerBody() async throws {
        let script = """
            const text = JSON.stringify({ name: "Åse", note: "50 % & more" });
            const send = fields => fetch("/api", { method: "POST", headers: fields });
            await send({ "Content-Type": "application/json", "x-weimai-h5body": encodeURIComponent(text) });
            await send({ "x-weimai-h5body": btoa("a\\0b"), "x-weimai-h5body-encoding": "base64" });
            const own = await fetch("/api", { method: "POST", body: "own", headers: { "x-weimai-h5body": "other" } });
            const damaged = await send({ "x-weimai-h5body": "%zz" });
            return [own.status, damaged.status];
            """
        let origin = try ScriptedOrigin { request in
            request.path == "/" ? Self.html(GatewayFixture.page(script)) : .ok()
        }
        let fixture = try await GatewayFixture(origin: origin) { _ in
        } interceptor: {
            $0.headerBody = HeaderBody()
        }
        try await fixture.show(at: fixture.name(of: origin)) { page in
            let result = try await page.evaluate("result")
            #expect(result == [200, 400])
        }
        let sent = origin.requests.filter { $0.path == "/api" }
        #expect(
            sent.map { String(decoding: $0.body, as: UTF8.self) }
                == [#"{"name":"Åse","note":"50 % & more"}"#, "a\0b", "own"]
        )
        #expect(sent.first?.value(of: "Content-Type") == "application/json")
        #expect(sent.first?.value(of: "Content-Length") == "36")
        #expect(sent.allSatisfy { request in !request.fields.contains { $0.name.lowercased().contains("h5body") } })
    }

    @Test("for links of other apps reach the app's handler, and the browser stays on its page")
    func links() async throws {
        let opened = Mutex<[String]>([])
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/":
                Self.html(
                    """
                    <a href=/pay>Pay</a> <a href="https://maps.example/berlin?a=1">Map</a>
                    <form action=/call method=post><button>Call</button></form><script>result = "shown"</script>
                    """
                )
            case "/pay": .redirect(to: "wallet://pay?amount=3")
            case "/call": .redirect(303, to: "tel:+44-20-7946-0018")
            default: .ok()
            }
        }
        let fixture = try await GatewayFixture(origin: origin) {
            // Absolute links of pages lead to the gateway.
            $0.rewritesLinks = true
        } interceptor: {
            $0.externalLinks = ExternalLinks(schemes: ["wallet", "tel"], hosts: ["maps.example"]) { request in
                opened.withLock { $0.append(request.url?.absoluteString ?? "") }
            }
        }
        try await fixture.show(at: fixture.name(of: origin)) { page in
            for (name, role, link) in [
                ("Pay", "link", "wallet://pay?amount=3"), ("Map", "link", "https://maps.example/berlin?a=1"),
                ("Call", "button", "tel:+44-20-7946-0018"),
            ] {
                try await page.click(.named(name, role: role))
                #expect(await eventually { opened.withLock { $0.last } == link })
                #expect(try await page.evaluate("[result, location.pathname]") == ["shown", "/"])
            }
            #expect(page.consoleErrors == [])
        }
        #expect(opened.withLock { $0.count } == 3)
    }

    @Test("with the scheme of another app reach the handler if the origin redirects to them, and not by a click")
    func ownScheme() async throws {
        let opened = Mutex<[String]>([])
        let origin = try ScriptedOrigin { request in
            guard request.path == "/" else { return .redirect(to: "wallet://redirected") }
            let links = "<a href='wallet://linked'>Linked</a> <a href=/pay>Pay</a>"
            return Self.html(links + "<script>result = 'shown'</script>")
        }
        let fixture = try await GatewayFixture(origin: origin) {
            $0.rewritesLinks = true
        } interceptor: {
            $0.externalLinks = ExternalLinks(schemes: ["wallet"]) { request in
                opened.withLock { $0.append(request.url?.absoluteString ?? "") }
            }
        }
        try await fixture.show(at: fixture.name(of: origin)) { page in
            try await page.click(.named("Linked", role: "link"))
            try await page.click(.named("Pay", role: "link"))
            #expect(await eventually { opened.withLock { !$0.isEmpty } })
            #expect(try await page.evaluate("location.pathname") == "/")
        }
        #expect(opened.withLock { $0 } == ["wallet://redirected"])
    }
}
#endif
