#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationPacks
import WaystationTestSupport
import WaystationTesting

/// Chromium shows a page of a pack while another version of the pack is installed.
@Suite("The update of a pack whose page a browser shows", .timeLimit(.minutes(10)))
struct BrowserUpdateTests {
    /// A page that loads two further modules when a test calls `more()`.
    ///
    /// The names of both are those that a bundler makes: one is in each version, the other in its own version only.
    private static func files(_ version: String) -> [String: Data] {
        let page = """
            <!doctype html><link rel=icon href="data:,"><p>version \(version)</p><script type=module>
            import { version } from "./app-\(version).js";
            window.more = async () => {
                const shared = await import("./shared.js"), own = await import("./late-\(version).js");
                return [version, shared.name, own.version, await (await fetch("data.json")).json()];
            };
            window.result = version;
            </script>
            """
        return [
            "index.html": page, "app-\(version).js": "export const version = '\(version)'",
            "late-\(version).js": "export const version = 'late \(version)'",
            "shared.js": "export const name = 'shared'",
            "data.json": "{\"version\":\"\(version)\"}",
        ].mapValues { Data($0.utf8) }
    }

    @Test("leaves the page as it is and able to load the rest of its version, and shows at the next reload")
    func update() async throws {
        // The origin keeps the files of versions that pages may still show, as servers of bundled apps do.
        let origin = try ScriptedOrigin { request in
            Self.files("1.0")[String(request.path.dropFirst())].map {
                .ok($0, fields: ["Content-Type": "text/javascript"])
            }
                ?? .status(404)
        }
        let packs = try PackFixture()
        let base = origin.url().absoluteString
        try await packs.install(Self.files("1.0"), version: "1.0", at: base)
        let fixture = try await GatewayFixture {
            _ in
        } interceptor: {
            $0.rules = [.allow("\(base)**", via: .pack(orElse: .network))]
            $0.packs = packs.library
        }
        try await fixture.show(at: fixture.name(of: origin)) { page in
            #expect(try await page.evaluate("result") == "1.0")
            #expect(origin.requestCount == 0)
            try await packs.install(Self.files("1.1"), version: "1.1", at: base)
            #expect(
                try await page.evaluate("await more()") == ["1.0", "shared", "late 1.0", ["version": "1.1"]]
            )
            #expect(try await page.evaluate("document.querySelector('p').textContent") == "version 1.0")
            #expect(origin.requests.map(\.path) == ["/late-1.0.js"])

            origin.stop()
            try await page.send("Page.reload")
            try await page.waitUntil("window.result === '1.1'")
            #expect(
                try await page.evaluate("await more()") == ["1.1", "shared", "late 1.1", ["version": "1.1"]]
            )
            #expect(page.consoleErrors == [])
        }
    }
}
#endif
