#if Gateway
import Foundation
import Testing
import WaystationTestSupport

extension GatewayFixture {
    /// Gives a test a page of a browser, which ends with the test.
    ///
    /// - Throws: An error when the browser cannot be started, or the error of the test.
    func browse(_ body: (Page) async throws -> Void) async throws {
        let browser = try await Browser()
        do { try await body(try await browser.page()) } catch {
            await browser.close()
            throw error
        }
        await browser.close()
    }

    /// Shows a page whose script sets `result` in a browser of its own.
    ///
    /// - Parameters:
    ///   - host: The gateway's name for the page's origin; by default that of the site of files.
    ///   - look: Looks at the page when its script has set `result`.
    /// - Throws: An error when the browser cannot be started, or when the page sets no result.
    func show(at host: String? = nil, _ look: (Page) async throws -> Void) async throws {
        try await browse { page in
            try await page.open(url(at: host))
            try await page.waitUntil(Self.hasResult)
            try await look(page)
        }
    }

    /// Holds when the script of a page has set `result`.
    static let hasResult = "typeof result === 'string' || Array.isArray(window.result)"

    /// The URL of a path at the gateway.
    func url(_ path: String = "/", at host: String? = nil) throws -> URL {
        try #require(URL(string: "http://\(host ?? shop)\(path)"))
    }

    /// A page whose script returns a result.
    static func page(_ script: String) -> String {
        """
        <!doctype html><link rel=icon href="data:,"><link rel=stylesheet href=style.css><p id=result>nothing</p>
        <script type=module>
        const run = async () => { \(script) };
        window.result = await run().catch(error => "failed: " + error);
        </script>
        """
    }
}
#endif
