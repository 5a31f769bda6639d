import Foundation
import FoundationNetworking
import ShopServer
import WaystationTestSupport

/// A walk through the pages of a kiosk: first with their servers, then without a network.
///
/// Chromium shows each page, without a window, and the report gets a picture of it.
struct Walk: Sendable {
    /// The folder of JupyterLab as a static app.
    let lab: URL
    /// The version of its pack.
    var version = "1.0"
    /// The folder of the report.
    let output: URL
    let say: @Sendable (String) -> Void

    /// Runs all steps.
    ///
    /// - Parameter scratch: An empty folder.
    /// - Returns: The report's page.
    /// - Throws: ``Unexpected`` or `BrowserFailure` at the first step without the expected result, or the error of the
    ///   step that failed.
    func run(in scratch: URL) async throws -> URL {
        let report = try Report(in: output, say)
        let servers = try await Servers(lab: lab, version: version, in: scratch)
        let kiosk = try Kiosk(servers, as: .ada, in: scratch.appending(path: "kiosk"))
        let start = try await kiosk.open()
        say("the kiosk's start page is \(start)")
        try await visit(start, report) { try await online($0, kiosk, servers) }
        await kiosk.flush()
        await servers.stop()
        try await checkSilence(of: servers)
        // The browser is a new one, so it has no copies of its own.
        try await visit(start, report) { try await offline($0) }
        let visits = servers.takeVisits()
        guard visits == Visit.summary(of: []) else { throw Unexpected("without a network, the shop saw \(visits)") }
        await kiosk.close()
        try report.write()
        return report.file
    }

    /// Checks that a client without the kiosk gets no answer of the shop, so that the pages cannot come from it.
    private func checkSilence(of servers: Servers) async throws {
        // Drops the visits that the last pages of the online part made.
        _ = servers.takeVisits()
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        guard (try? await session.data(from: servers.shopURL)) == nil else {
            throw Unexpected("the shop answers after its end")
        }
    }

    private func visit(_ start: URL, _ report: Report, _ steps: (Visitor) async throws -> Void) async throws {
        let browser = try await Browser()
        do { try await steps(try await Visitor(browser.page(), start: start, report)) } catch {
            await browser.close()
            throw error
        }
        await browser.close()
    }

    private static let home = "document.title === 'Shop of instruments' && document.images[0].naturalWidth > 0"
    private static let orders = "document.body.innerText.includes('orders of ada')"
    private static let launcher = "document.querySelector('.jp-LauncherCard[data-category=Notebook]')"

    private func online(_ visitor: Visitor, _ kiosk: Kiosk, _ servers: Servers) async throws {
        try await visitor.openStart()
        try await visitor.see("document.links.length === 2", "The start page is a file of the kiosk.")

        try await visitor.open("home")
        try await visitor.see(
            Self.home,
            "The shop's page comes from its server.",
            "the shop saw: \(servers.takeVisits())"
        )
        try await visitor.page.click("a[href*=orders]")
        try await visitor.page.waitUntil(Self.orders)
        let visits = servers.takeVisits()
        guard visits.contains("POST /api/login 200") else { throw Unexpected("no sign-in: the shop saw \(visits)") }
        try await visitor.see(Self.orders, "A page behind the login: the kiosk signs in.", "the shop saw: \(visits)")

        try await visitor.open("home")
        try await visitor.see(Self.home, "The shop knows the customer.", "the shop saw: \(servers.takeVisits())")

        try await visitor.open("lab")
        try await visitor.see(Self.launcher, "JupyterLab comes from its server.", try await source(of: visitor))
        let outcome = try await kiosk.update()
        try await visitor.see(Self.launcher, "Its pack is installed while the page is open.", "\(outcome)")
        try await visitor.open("lab")
        try await visitor.see(
            Self.launcher,
            "Opened again, JupyterLab comes from the pack.",
            try await source(of: visitor)
        )
    }

    private func offline(_ visitor: Visitor) async throws {
        try await visitor.openStart()
        try await visitor.see("document.links.length === 2", "The servers are off. The start page opens.")
        try await visitor.open("home")
        try await visitor.see(Self.home, "The shop's page comes from the cache.")
        try await visitor.page.click("a[href*=orders]")
        try await visitor.see(Self.orders, "The page behind the login comes from the cache.")
        try await visitor.open("lab")
        try await visitor.see(Self.launcher, "JupyterLab comes from the pack.", try await source(of: visitor))
        try await compute(visitor.page)
        try await visitor.see("document.querySelector('.jp-Notebook')", "A notebook runs, without a network.")
    }

    /// Makes a notebook, and runs a cell in it.
    private func compute(_ page: Page) async throws {
        try await page.click(".jp-LauncherCard[data-category=Notebook]")
        try await page.waitUntil("document.querySelector('#jp-main-statusbar').innerText.includes('Idle')")
        try await page.type("console.log([1, 2, 3, 4].map(n => n * n).join(' '))", into: ".jp-Notebook .cm-content")
        try await page.press(.enter, with: .shift)
        try await page.waitUntil("document.querySelector('.jp-OutputArea-output').innerText.includes('1 4 9 16')")
    }

    /// The source of the page that a visitor sees, as the gateway states it.
    private func source(of visitor: Visitor) async throws -> String {
        let status = try await visitor.page.evaluate(
            "(await fetch(location.href, { cache: 'no-store' })).headers.get('Cache-Status')"
        )
        return status.string ?? "no Cache-Status"
    }
}
