import Foundation
import Testing
import WaystationPacks
import WaystationPublishing
import WaystationTestSupport

@testable import UpdateServer

/// The release page, used in Chromium as a publisher uses it.
@Suite("The page in Chromium", .timeLimit(.minutes(10)))
struct ReleasePageTests {
    private let platform: Platform

    init() throws { platform = try Platform() }

    /// Opens the page in a browser that ends with the test, whatever the test does.
    ///
    /// - Parameters:
    ///   - refusals: The status codes of refused changes, which Chromium reports as errors; it may report no others.
    ///   - body: The steps in the page.
    /// - Throws: The error of the steps, of the platform or of the browser.
    private func withPage(
        refusals: [Int] = [],
        _ body: @escaping @Sendable (Page) async throws -> Void
    ) async throws {
        try await platform.server().ask { client in
            let browser = try await Browser()
            do {
                let page = try await browser.page()
                try await page.resize(1280, 800)
                try await page.open(try #require(URL(string: "http://localhost:\(client.port)/")))
                try await page.waitUntil("document.getElementById('catalogue').textContent !== 'Loading …'")
                try await body(page)
                #expect(page.consoleErrors.count == refusals.count, "\(page.consoleErrors)")
                for (error, status) in zip(page.consoleErrors, refusals) {
                    #expect(error.contains("status of \(status)"))
                }
            } catch {
                await browser.close()
                throw error
            }
            await browser.close()
        }
    }

    private static func text(of id: String) -> String { "document.getElementById('\(id)').innerText" }

    private func enterToken(_ page: Page, _ token: String = Platform.token) async throws {
        try await page.type(token, into: .named("Token"))
        try await page.waitUntil("!document.querySelector('#publish-form button').disabled")
    }

    /// Makes a pack with the name that `waystation pack build` suggests, and chooses it in the page.
    private func choose(_ version: String, in page: Page) async throws {
        let zip = platform.folder.appending(path: "shop-\(version).zip")
        try await BlockingWork.run { [platform] in
            try FileManager.default.moveItem(at: platform.pack(version), to: zip)
        }
        let field = try await page.send("Runtime.evaluate", ["expression": "document.getElementById('pack')"])
        try await page.send(
            "DOM.setFileInputFiles",
            ["objectId": field["result"]["objectId"], "files": [.string(zip.path(percentEncoded: false))]]
        )
    }

    // MARK: - Flows

    @Test("says that nothing is published, and offers no change without the token")
    func empty() async throws {
        try await withPage { page in
            #expect(try await page.evaluate(Self.text(of: "modules")) == "There are no modules yet.")
            #expect(try await page.evaluate("document.querySelector('#publish-form button').disabled") == true)
            try await page.click(.named("Enter the token", role: "link"))
            try await page.waitUntil("document.activeElement.id === 'token'")
            try await page.type(Platform.token)
            try await page.waitUntil("!document.querySelector('#publish-form button').disabled")
            #expect(try await page.evaluate("document.getElementById('locked').hidden") == true)
            for _ in Platform.token { try await page.press(.backspace) }
            try await page.waitUntil("document.querySelector('#publish-form button').disabled")
        }
    }

    @Test("lists modules with their releases, the latest first, with states, sizes and patches")
    func list() async throws {
        try await platform.publish("1.9", "1.10")
        try await platform.publish("2.0", of: "docs")
        try await withPage { page in
            let names = "[...document.querySelectorAll('.module h3')].map(one => one.textContent).join()"
            #expect(try await page.evaluate(names) == "docs,shop")
            let releases = "document.querySelectorAll('[data-module=shop] .release')"
            #expect(try await page.evaluate("\(releases).length") == 2)
            let latest = try await page.evaluate("\(releases)[0].innerText").string ?? ""
            #expect(latest.contains("1.10") && latest.contains("live"))
            #expect(latest.contains("2 files") && latest.contains("content from 1.9: "), "\(latest)")
            let catalogue = try await page.evaluate(Self.text(of: "catalogue")).string ?? ""
            #expect(catalogue.hasPrefix("Catalogue "))
            #expect(catalogue.contains("signed by"))
        }
    }

    @Test("publishes a chosen pack to a share of the clients, and takes the module's name from the file")
    func publishing() async throws {
        try await platform.publish("1.3")
        try await withPage { page in
            try await enterToken(page)
            try await choose("1.4", in: page)
            try await page.waitUntil("document.getElementById('module').value === 'shop'")
            try await page.evaluate("document.getElementById('rollout').select()")
            try await page.type("25")
            try await page.evaluate("document.getElementById('network').value = 'wired'")
            try await page.click(.named("Publish", role: "button"))
            try await page.waitUntil("\(Self.text(of: "status")) === 'shop-1.4.zip is published.'")
            let module = try await page.evaluate("document.querySelector('[data-module=shop]').innerText").string ?? ""
            #expect(module.contains("25 % of the clients"))
            #expect(module.contains("1.3 is live"))
            #expect(module.contains("downloaded on wired networks"))
            let published = try await platform.releases.index().modules.first
            #expect(published?.rollout?.percentage == 25)
            #expect(try await page.evaluate("document.getElementById('upload').hidden") == true)
        }
    }

    @Test("asks before it ends a rollout, by keyboard, and gives the focus back")
    func keyboard() async throws {
        try await platform.publish("1.3")
        let zip = try await BlockingWork.run { [platform] in try platform.pack("1.4") }
        try await platform.releases.publish(zip: zip, rollout: 10, signedBy: [platform.key])
        try await withPage { page in
            try await enterToken(page)
            let button =
                "[...document.querySelectorAll('button')].find(one => one.textContent === 'End the rollout of 1.4')"
            try await page.evaluate("\(button).focus()")
            try await page.press(.enter)
            try await page.waitUntil("document.activeElement.id === 'question-no'")
            #expect(try await page.evaluate(Self.text(of: "question-text")) == "End the rollout of shop 1.4?")
            try await page.press(.escape)
            try await page.waitUntil("!document.getElementById('question').open")
            #expect(try await page.evaluate("document.activeElement === \(button)") == true)
            try await page.press(.space)
            try await page.waitUntil("document.activeElement.id === 'question-no'")
            try await page.press(.enter)
            try await page.waitUntil("!document.getElementById('question').open")
            #expect(try await platform.releases.index().modules.first?.rollout != nil)
            try await page.press(.enter)
            try await page.waitUntil("document.activeElement.id === 'question-no'")
            try await page.press(.tab, with: .shift)
            try await page.waitUntil("document.activeElement.id === 'question-yes'")
            try await page.press(.enter)
            try await page.waitUntil("\(Self.text(of: "status")) === 'The rollout of shop 1.4 has ended.'")
            #expect(try await page.evaluate("document.activeElement.dataset.module") == "shop")
            #expect(try await platform.releases.index().modules.first?.rollout == nil)
        }
    }

    @Test("takes the answer to a question that opens right after another one was closed")
    func questionAfterQuestion() async throws {
        try await platform.publish("1.3", "1.4")
        try await withPage { page in
            try await enterToken(page)
            // The browser reports the closing of the first question when the second one is open.
            try await page.evaluate(
                """
                (() => {
                  const button = [...document.querySelectorAll('button')].find(one => one.textContent === 'Require 1.4');
                  button.click();
                  document.getElementById('question').close();
                  button.click();
                })()
                """
            )
            try await page.click(.named("Require", role: "button"))
            try await page.waitUntil(
                "\(Self.text(of: "status")) === '1.4 is the lowest version of shop that may be used.'"
            )
        }
    }

    @Test("rolls back, requires a version, switches a module off and on, and changes its network")
    func changes() async throws {
        try await platform.publish("1.3", "1.4")
        try await withPage { page in
            try await enterToken(page)
            func change(_ name: String, _ answer: String?, _ outcome: String) async throws {
                try await page.click(.named(name, role: "button"))
                if let answer {
                    try await page.waitUntil("document.getElementById('question').open")
                    try await page.click(.named(answer, role: "button"))
                }
                try await page.waitUntil("\(Self.text(of: "status")) === '\(outcome)'")
            }
            try await change("Require 1.4", "Require", "1.4 is the lowest version of shop that may be used.")
            try await change("Remove the minimum 1.4", "Remove the minimum", "Any version of shop may be used.")
            try await change("Roll back to 1.3", "Roll back", "shop 1.3 is live.")
            try await change("Disable shop", "Disable", "shop is switched off.")
            #expect(try await page.evaluate("document.querySelector('.bad').textContent") == "switched off")
            try await change("Enable shop", nil, "shop is switched on.")
            try await change("Require an unmetered network", "Require", "shop is downloaded on unmetered networks.")
            try await change("Allow any network", "Allow", "shop is downloaded on any network.")
            let module = try await platform.releases.index().modules.first
            #expect(module?.live?.description == "1.3")
            #expect(module?.isActive == true)
            #expect(module?.minimumVersion == nil)
        }
    }

    @Test("reports a wrong token and a wrong pack, and changes nothing")
    func refusals() async throws {
        try await platform.publish("1.3", "1.4")
        let before = try await platform.releases.index().serial
        try await withPage(refusals: [401, 422]) { page in
            try await enterToken(page, "another-token-of-some-length")
            try await page.click(.named("Roll back to 1.3", role: "button"))
            try await page.click(.named("Roll back", role: "button"))
            try await page.waitUntil("\(Self.text(of: "error")).includes('the token is wrong')")
            #expect(try await page.evaluate(Self.text(of: "status")) == "")
            try await page.evaluate("document.getElementById('token').select()")
            try await page.type(Platform.token)
            try await choose("1.5", in: page)
            try await page.evaluate("document.getElementById('module').value = 'docs'")
            try await page.click(.named("Publish", role: "button"))
            try await page.waitUntil("\(Self.text(of: "error")).includes('the pack belongs to the module shop')")
            #expect(try await platform.releases.index().serial == before)
        }
    }

    // MARK: - Appearance

    @Test("keeps each control within the window, named and readable, at every width and in both colours")
    func appearance() async throws {
        try await platform.publish("1.3", "1.4")
        try await platform.publish("2026.11.23.1", of: String(repeating: "long", count: 16))
        let zip = try await BlockingWork.run { [platform] in try platform.pack("1.5") }
        try await platform.releases.publish(zip: zip, rollout: 12.5, signedBy: [platform.key])
        let shop = try #require(ModuleID("shop"))
        try await platform.releases.setMinimumVersion(PackVersion("1.3"), of: shop, signedBy: [platform.key])
        try await withPage { page in
            for scheme in ColorScheme.allCases {
                try await page.colorScheme(scheme)
                for width in [360, 768, 1280, 1920] {
                    try await page.resize(width, 900)
                    for state in State.allCases {
                        try await show(state, page)
                        #expect(try await page.audit() == [], "\(state) at \(width) px, \(scheme)")
                        try await save(page, "releases-\(state)-\(width)-\(scheme.rawValue)")
                        try await hide(state, page)
                    }
                }
            }
        }
    }

    /// The state of the page in which it is audited.
    private enum State: CaseIterable {
        case locked, unlocked, asking, reporting
    }

    private func show(_ state: State, _ page: Page) async throws {
        switch state {
        case .locked: break
        case .unlocked: try await enterToken(page)
        case .asking:
            try await page.click(.selector(".module:last-child .bar button:first-child"))
            try await page.waitUntil("document.getElementById('question').open")
        case .reporting:
            try await page.click(.named("Require an unmetered network", role: "button"))
            try await page.click(.selector("#question-yes"))
            try await page.waitUntil("\(Self.text(of: "status")).endsWith('unmetered networks.')")
        }
    }

    /// Leaves the state as the next one needs it.
    private func hide(_ state: State, _ page: Page) async throws {
        switch state {
        case .locked, .unlocked: break
        case .asking:
            try await page.press(.escape)
            try await page.waitUntil("!document.getElementById('question').open")
        case .reporting:
            try await page.click(.named("Allow any network", role: "button"))
            try await page.click(.selector("#question-yes"))
            try await page.waitUntil("\(Self.text(of: "status")).endsWith('any network.')")
            try await page.evaluate("document.getElementById('token').value = ''")
            try await page.evaluate("document.getElementById('token').dispatchEvent(new Event('input'))")
        }
    }

    /// Keeps a picture of the page, if the environment names a folder for them.
    private func save(_ page: Page, _ name: String) async throws {
        guard let folder = ProcessInfo.processInfo.environment["WAYSTATION_SCREENSHOTS"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await page.screenshot().write(to: URL(filePath: folder).appending(path: "\(name).png"))
    }
}
