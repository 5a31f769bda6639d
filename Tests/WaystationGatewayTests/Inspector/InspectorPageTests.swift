#if Gateway
import Foundation
import Testing
import Waystation
import WaystationTestSupport

/// The inspector's page, used in Chromium as a developer uses it.
@Suite("The page of the inspector", .timeLimit(.minutes(10)))
struct InspectorPageTests {
    /// Opens the page in a browser that ends with the test, whatever the test does, and expects no error in its
    /// console.
    private func withPage(_ body: (Page, InspectorFixture) async throws -> Void) async throws {
        let inspected = try await InspectorFixture()
        let browser = try await Browser()
        do {
            let page = try await browser.page()
            try await page.resize(1280, 800)
            try await page.open(inspected.url)
            try await page.waitUntil("document.getElementById('connection').textContent === 'Connected'")
            try await body(page, inspected)
            #expect(page.consoleErrors == [])
        } catch {
            await browser.close()
            throw error
        }
        await browser.close()
    }

    private static let rows = "[...document.querySelectorAll('#loads-list .row')].filter(row => row.checkVisibility())"

    @Test("lists loads as they end, filters them, and shows one in full by keyboard")
    func loads() async throws {
        try await withPage { page, inspected in
            #expect(try await page.evaluate("location.href") == .string("http://\(inspected.host)/"))
            _ = try await inspected.fixture.get("/")
            _ = try await inspected.fixture.get("/kept", host: inspected.name, ["Cookie: a=page-secret"])
            try await page.waitUntil("\(Self.rows).length === 2")
            #expect(
                try await page.evaluate("\(Self.rows)[1].textContent").string?.contains("https://shop.example/") == true
            )
            try await page.type("kept", into: .named("Filter"))
            try await page.waitUntil("\(Self.rows).length === 1")
            try await page.waitUntil("document.getElementById('loads-count').textContent === '1 of 2 loads'")
            try await page.evaluate("\(Self.rows)[0].focus()")
            try await page.press(.enter)
            try await page.waitUntil("document.activeElement.id === 'load'")
            let text = try await page.evaluate("document.getElementById('load').innerText").string ?? ""
            #expect(text.contains("Rule 3 takes the request"))
            #expect(text.contains("The origin answered over the network."))
            #expect(text.contains("Nothing was stored for the URL, so the origin was asked; the response was stored"))
            #expect(text.contains("[redacted]"))
            #expect(text.contains("<b>bold</b>"))
            #expect(try await page.evaluate("document.querySelector('b')") == nil)
            #expect(!text.contains("-secret"))
            try await page.press(.escape)
            try await page.waitUntil("document.getElementById('load').hidden")
            #expect(try await page.evaluate("document.activeElement === \(Self.rows)[0]") == true)
        }
    }

    @Test("cuts a long URL to two lines, and shows the whole one on request")
    func longURL() async throws {
        try await withPage { page, inspected in
            _ = try await inspected.fixture.get("/")
            let long = "/?" + String(repeating: "q", count: 4_000)
            _ = try await inspected.fixture.get(long)
            try await page.waitUntil("\(Self.rows).length === 2")
            let lines = { (element: String) in
                "Math.round(\(element).clientHeight / parseFloat(getComputedStyle(\(element)).lineHeight))"
            }
            let urls = "document.querySelectorAll('#loads-list .url')"
            #expect(try await page.evaluate(lines("\(urls)[0]")) == 2)
            #expect(try await page.evaluate(lines("\(urls)[1]")) == 1)
            let button = "document.querySelector('#load .head + button')"
            try await page.evaluate("\(Self.rows)[1].click()")
            try await page.waitUntil("!document.getElementById('load').hidden && \(button).hidden")
            try await page.evaluate("\(Self.rows)[0].click()")
            try await page.waitUntil("\(button)?.hidden === false")
            let title = "document.querySelector('#load h3')"
            #expect(try await page.evaluate(lines(title)) == 2)
            try await page.click(.named("Show the whole URL", role: "button"))
            #expect(try await page.evaluate("\(title).scrollHeight === \(title).clientHeight") == true)
            #expect(try await page.evaluate("\(title).innerText").string?.hasSuffix("qqqq") == true)
            try await page.click(.named("Show two lines of the URL", role: "button"))
            #expect(try await page.evaluate(lines(title)) == 2)
        }
    }

    @Test("shows the body of a load by its type, and the events of a pack")
    func bodiesAndEvents() async throws {
        try await withPage { page, inspected in
            for path in ["/picture", "/page.html", "/numbers.json", "/data.json"] {
                _ = try await inspected.fixture.get(path, host: inspected.name)
            }
            try await page.waitUntil("\(Self.rows).length === 4")
            let body = "document.querySelector('#load pre')?.textContent"
            for (row, text) in [
                #"'{\n  "b": [\n    1\n  ],\n  "a": {\n    "token": "[redacted]"\n  }\n}'"#,
                // Numbers are shown as they arrived.
                #"'{\n  "id": 12345678901234567890123,\n  "price": 1.10,\n  "none": {},\n  "text": "a, {b}: \\"["\n}'"#,
                "'<b>bold</b>'",
            ].enumerated() {
                try await page.evaluate("\(Self.rows)[\(row)].click()")
                try await page.waitUntil("\(body) === \(text)")
            }
            try await page.evaluate("\(Self.rows)[3].click()")
            try await page.waitUntil("document.querySelector('#load img')?.naturalWidth === 1")
            _ = try await inspected.ask("/api/rollback?module=shop&version=1.1", method: "POST")
            try await page.click(.named("Events", role: "link"))
            let list = "document.getElementById('events-list').textContent.includes('rolled back in the inspector')"
            while try await page.evaluate(list) != true {
                try await page.click(.named("Refresh", role: "button"))
                try await page.waitUntil("document.getElementById('events-count').textContent !== ''")
            }
        }
    }

    @Test("moves between rows by arrow keys, pauses, continues and clears")
    func control() async throws {
        try await withPage { page, inspected in
            for _ in 0..<3 { _ = try await inspected.fixture.get("/") }
            try await page.waitUntil("\(Self.rows).length === 3")
            try await page.evaluate("\(Self.rows)[0].focus()")
            try await page.press(.down)
            #expect(try await page.evaluate("\(Self.rows).indexOf(document.activeElement)") == 1)
            try await page.press(.end)
            #expect(try await page.evaluate("\(Self.rows).indexOf(document.activeElement)") == 2)
            try await page.click(.named("Pause", role: "button"))
            _ = try await inspected.fixture.get("/")
            try await page.waitUntil("document.getElementById('loads-count').textContent === '3 loads, 1 waiting'")
            #expect(try await page.evaluate("\(Self.rows).length") == 3)
            try await page.click(.named("Continue", role: "button"))
            try await page.waitUntil("\(Self.rows).length === 4")
            try await page.click(.named("Clear", role: "button"))
            try await page.waitUntil("\(Self.rows).length === 0")
            _ = try await inspected.fixture.get("/")
            try await page.waitUntil("\(Self.rows).length === 1")
        }
    }

    @Test("shows the rules, and their decision for a typed URL")
    func rules() async throws {
        try await withPage { page, inspected in
            try await page.click(.named("Rules", role: "link"))
            try await page.waitUntil("document.querySelectorAll('#rules-list li').length === 4")
            try await page.type("https://ads.example/banner", into: .named("URL"))
            try await page.press(.enter)
            try await page.waitUntil(
                "document.getElementById('decision').textContent === 'Rule 1 blocks it: https://ads.example/**.'"
            )
            try await page.evaluate("document.getElementById('decision-url').value = 'https://other.example/'")
            try await page.click(.named("Decide", role: "button"))
            try await page.waitUntil("document.getElementById('decision').textContent.startsWith('No rule takes it.')")
            #expect(try await page.evaluate("document.querySelectorAll('#decision li').length > 0") == true)
        }
    }

    @Test("searches the cache, shows a response with its freshness, and purges it when the user confirms")
    func cache() async throws {
        try await withPage { page, inspected in
            for path in ["/kept/a", "/kept/b"] { _ = try await inspected.fixture.get(path, host: inspected.name) }
            try await page.click(.named("Cache", role: "link"))
            try await page.waitUntil("document.querySelectorAll('#cache-list .row').length === 2")
            try await page.type("kept/a", into: .named("URL contains"))
            try await page.press(.enter)
            try await page.waitUntil("document.querySelectorAll('#cache-list .row').length === 1")
            try await page.click("#cache-list .row")
            try await page.waitUntil("document.getElementById('entry').innerText.includes('by max-age of its ')")
            try await page.click(.named("Purge", role: "button"))
            try await page.click(.named("Cancel", role: "button"))
            try await page.waitUntil("!document.getElementById('question').open")
            #expect(try await page.evaluate("document.querySelectorAll('#cache-list .row').length") == 1)
            try await page.click(.named("Purge", role: "button"))
            try await page.click(.named("Remove", role: "button"))
            try await page.waitUntil("document.querySelectorAll('#cache-list .row').length === 0")
            #expect(inspected.origin.requestCount == 2)
            for path in ["/kept/a", "/kept/b"] { _ = try await inspected.fixture.get(path, host: inspected.name) }
            #expect(inspected.origin.requestCount == 3)
        }
    }

    @Test("takes the answer to a question that opens right after another one was closed")
    func questionAfterQuestion() async throws {
        try await withPage { page, inspected in
            _ = try await inspected.fixture.get("/kept/a", host: inspected.name)
            try await page.click(.named("Cache", role: "link"))
            try await page.click("#cache-list .row")
            let button = "[...document.querySelectorAll('button')].find(one => one.textContent === 'Purge')"
            try await page.waitUntil("\(button) !== undefined")
            // The browser reports the closing of the first question when the second one is open.
            try await page.evaluate(
                "{ \(button).click(); document.getElementById('question').close(); \(button).click(); }"
            )
            try await page.click(.named("Remove", role: "button"))
            try await page.waitUntil("document.querySelectorAll('#cache-list .row').length === 0")
        }
    }

    @Test("shows the packs with their files, and rolls one back when the user confirms")
    func packs() async throws {
        try await withPage { page, inspected in
            try await page.click(.named("Packs", role: "link"))
            try await page.click("#packs-list .row")
            try await page.waitUntil("document.getElementById('pack').innerText.includes('index.html, ')")
            try await page.press(.escape)
            try await page.click(.named("Roll back shop", role: "button"))
            try await page.waitUntil(
                "document.getElementById('question-text').textContent.includes('Version 1.0 becomes active.')"
            )
            try await page.click(.named("Roll back", role: "button"))
            try await page.waitUntil(
                "document.getElementById('packs-list').innerText.includes('rolled back in the inspector')"
            )
            let answer = try await inspected.fixture.get("/", host: "pack-example.localhost:\(inspected.fixture.port)")
            #expect(answer.text == "<p>version 1.0</p>")
        }
    }

    @Test("lists cookies without their values, and exports the loads as HAR")
    func cookiesAndExport() async throws {
        try await withPage { page, inspected in
            _ = try await inspected.fixture.get("/")
            try await page.click(.named("Cookies", role: "link"))
            try await page.waitUntil("document.querySelectorAll('#cookies-list li').length === 1")
            let text = try await page.evaluate("document.getElementById('cookies').innerText").string ?? ""
            #expect(text.contains("token") && text.contains("HttpOnly") && text.contains("127.0.0.1"))
            #expect(try await page.evaluate("document.documentElement.outerHTML.includes('stored-secret')") == false)
            try await page.click(.named("Loads", role: "link"))
            let link = "document.querySelector('a[download]').href"
            #expect(try await page.evaluate("(await (await fetch(\(link))).json()).log.entries.length") == 1)
        }
    }

    @Test("keeps each control within the window, named and readable, at every width and in both colours")
    func appearance() async throws {
        try await withPage { page, inspected in
            _ = try await inspected.fixture.get("/" + String(repeating: "long", count: 100))
            _ = try await inspected.fixture.get("/kept/" + String(repeating: "long", count: 100), host: inspected.name)
            _ = try await inspected.fixture.get("/", host: "ads-example.localhost:\(inspected.fixture.port)")
            try await page.waitUntil("\(Self.rows).length === 3")
            for scheme in ColorScheme.allCases {
                try await page.colorScheme(scheme)
                for width in [360, 768, 1280, 1920] {
                    try await page.resize(width, 900)
                    for part in ["loads", "rules", "cache", "packs", "cookies", "events"] {
                        try await show(part, page)
                        #expect(try await page.audit() == [], "\(part) at \(width) px, \(scheme)")
                        try await save(page, "inspector-\(part)-\(width)-\(scheme.rawValue)")
                    }
                    try await show("cache", page)
                    try await page.click(.named("Purge", role: "button"))
                    try await page.waitUntil("document.getElementById('question').open")
                    #expect(try await page.audit() == [], "the question at \(width) px, \(scheme)")
                    try await save(page, "inspector-question-\(width)-\(scheme.rawValue)")
                    try await page.click(.named("Cancel", role: "button"))
                    try await page.waitUntil("!document.getElementById('question').open")
                }
            }
        }
    }

    /// Shows a part, with its details where it has some.
    private func show(_ part: String, _ page: Page) async throws {
        try await page.evaluate("location.hash = '\(part)'")
        try await page.waitUntil("!document.getElementById('\(part)').hidden")
        try await page.waitUntil("document.querySelector('#\(part) :is(li, .empty)')?.checkVisibility()")
        if part == "rules" {
            try await page.evaluate(
                "document.getElementById('decision-url').value = 'https://other.example/'; document.getElementById('decision-form').requestSubmit()"
            )
            try await page.waitUntil("document.querySelector('#decision li')")
        } else if part != "cookies", part != "events" {
            try await page.click(.selector("#\(part) .row"))
            try await page.waitUntil("document.querySelector('#\(part) .details')?.checkVisibility()")
        }
    }

    /// Keeps a picture of the page, if the environment names a folder for them.
    private func save(_ page: Page, _ name: String) async throws {
        guard let folder = ProcessInfo.processInfo.environment["WAYSTATION_SCREENSHOTS"] else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await page.screenshot().write(to: URL(filePath: folder).appending(path: "\(name).png"))
    }
}
#endif
