import Foundation
import Testing
import WaystationTestSupport
import WaystationTesting

/// The driver of the tests' browser, on pages of an origin of its own.
@Suite("The driver of the browser", .timeLimit(.minutes(10)))
struct BrowserDriverTests {
    private let origin: ScriptedOrigin

    init() throws {
        origin = try ScriptedOrigin { request in
            guard let page = Self.pages[request.path] else { return .status(404) }
            return .ok(page, fields: ["Content-Type": "text/html; charset=utf-8"])
        }
    }

    private static let pages = [
        "/": """
        <!doctype html><title>Form</title><style>@media (prefers-color-scheme: dark) { body { color: red } }</style>
        <label>Name <input id=name></label> <button aria-label="Send it">→</button> <a href=/next>Next</a>
        <div style="height: 3000px"></div><button id=far>Far</button>
        <script>
        const keys = [];
        document.addEventListener("keydown", event => keys.push((event.shiftKey ? "shift " : "") + event.key));
        document.querySelector("[aria-label]").onclick = () => {
            setTimeout(() => document.body.dataset.sent = document.getElementById("name").value, 50);
        };
        </script>
        """,
        "/next": "<!doctype html><title>Next</title><p id=there>There</p>",
        "/errors": """
        <!doctype html><script>console.error("by", "console"); setTimeout(() => { throw new Error("not caught") })
        fetch("/missing").then(() => document.title = "done")</script>
        """,
        "/leading": """
        <!doctype html><form action=/next></form><script>document.forms[0].submit()</script>
        """,
        "/faults": """
        <!doctype html><button id=nameless></button><p style="color: #949494; background: white">Pale text</p>
        <button style="width: 40px; overflow: hidden; white-space: nowrap">A long name</button>
        <a href=/next style="position: absolute; left: -9px">Outside</a>
        """,
        "/corrected": """
        <!doctype html><button aria-label=Named>→</button><p style="color: #767676; background: white">Text</p>
        <button style="white-space: nowrap">A long name</button> <a href=/next>Inside</a>
        """,
        "/covered": """
        <!doctype html><button id=under>Under</button>
        <div id=over style="position: fixed; inset: 0; background: white"></div>
        """,
    ]

    private func url(_ path: String) -> URL { origin.url(path) }

    /// Gives a test a page, and ends its browser, whatever the test does.
    private func withPage(_ body: (Page, Browser) async throws -> Void) async throws {
        let browser = try await Browser()
        do { try await body(try await browser.page(), browser) } catch {
            await browser.close()
            throw error
        }
        await browser.close()
    }

    @Test("types, clicks by names and selectors, and presses keys as a user does")
    func input() async throws {
        try await withPage { page, _ in
            try await page.open(url("/"))
            try await page.type("Åse", into: .named("Name"))
            try await page.click(.named("Send it", role: "button"))
            try await page.waitUntil("document.body.dataset.sent")
            #expect(try await page.evaluate("document.body.dataset.sent") == "Åse")
            try await page.click("#far")
            #expect(try await page.evaluate("document.activeElement.id") == "far")
            try await page.press(.tab, with: .shift)
            try await page.press(.escape)
            #expect(try await page.evaluate("keys") == ["shift Tab", "Escape"])
            #expect(try await page.evaluate("document.activeElement.textContent") == "Next")
            try await page.press(.enter)
            try await page.waitUntil("location.pathname === '/next' && document.getElementById('there')")
            #expect(try await page.evaluate("document.title") == "Next")
            #expect(page.consoleErrors.filter { !$0.contains("favicon") } == [])
        }
    }

    @Test("waits for the page to which a script leads")
    func redirection() async throws {
        try await withPage { page, _ in
            try await page.open(url("/leading"))
            try await page.waitUntil("location.pathname === '/next' && document.readyState === 'complete'")
            #expect(try await page.evaluate("document.title") == "Next")
        }
    }

    @Test("returns values of scripts, awaits promises, and throws what they throw")
    func scripts() async throws {
        try await withPage { page, _ in
            try await page.open(url("/next"))
            #expect(try await page.evaluate("({ a: [1, 'x', true, null], b: undefined })")["a"] == [1, "x", true, nil])
            #expect(try await page.evaluate("const one = await Promise.resolve(41); one + 1") == 42)
            #expect(try await page.evaluate("new Promise(done => setTimeout(() => done('late'), 10))") == "late")
            let failure = await #expect(throws: BrowserFailure.self) { try await page.evaluate("nothing.here") }
            #expect(failure?.description.contains("nothing is not defined") == true)
        }
    }

    @Test("reports the errors of a page")
    func errors() async throws {
        try await withPage { page, _ in
            try await page.open(url("/errors"))
            try await page.waitUntil("document.title === 'done'")
            let errors = page.consoleErrors
            #expect(errors.contains("by console"))
            #expect(errors.contains { $0.contains("not caught") })
            #expect(errors.contains { $0.contains("404") && $0.contains("/missing") })
        }
    }

    @Test("sets size and colours, draws the page, and reads what assistive technology reads")
    func appearance() async throws {
        try await withPage { page, _ in
            try await page.resize(360, 500)
            try await page.colorScheme(.dark)
            try await page.open(url("/"))
            #expect(
                try await page.evaluate("[innerWidth, innerHeight, getComputedStyle(document.body).color]")
                    == [360, 500, "rgb(255, 0, 0)"]
            )
            try await page.colorScheme(.light)
            #expect(try await page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)")
            let image = try await page.screenshot()
            #expect(image.starts(with: [0x89, 0x50, 0x4e, 0x47]))
            // The width in the header of a PNG.
            #expect(image[16..<20].elementsEqual([0, 0, 1, 104]))
            let controls = try await page.accessibilityTree().filter(\.isFocusable).map { "\($0.role) \($0.name)" }
            #expect(Set(controls).isSuperset(of: ["textbox Name", "button Send it", "link Next", "button Far"]))
        }
    }

    @Test("finds controls without a name, pale texts, and controls that are cut off or reach out of the window")
    func audit() async throws {
        try await withPage { page, _ in
            try await page.colorScheme(.light)
            try await page.open(url("/faults"))
            let faults = try await page.audit()
            #expect(faults.count == 4, "\(faults)")
            #expect(faults.contains("a control with the role button has no accessible name"))
            #expect(faults.contains("“Pale text” has a contrast of 3.03"))
            #expect(faults.contains { $0.hasPrefix("the text of <button ") && $0.hasSuffix(" is cut off") })
            #expect(faults.contains { $0.hasPrefix("<a href=") && $0.contains(" reaches from -9 to ") })
            try await page.open(url("/corrected"))
            #expect(try await page.audit() == [])
        }
    }

    @Test("fails a click on a covered element, and a page that cannot be loaded")
    func refusals() async throws {
        try await withPage { page, _ in
            try await page.open(url("/covered"))
            let covered = await #expect(throws: BrowserFailure.self) { try await page.click("#under") }
            #expect(covered?.description.contains("id=\"over\"") == true)
            let unreachable = try #require(URL(string: "http://nowhere.invalid/"))
            let failure = await #expect(throws: BrowserFailure.self) { try await page.open(unreachable) }
            #expect(failure?.description.contains("ERR_NAME_NOT_RESOLVED") == true)
        }
    }

    @Test("ends a wait with the reason when the browser dies, when its page crashes, and when the task is cancelled")
    func death() async throws {
        try await withPage { page, browser in
            try await page.open(url("/next"))
            let cancelled = Task { try await page.evaluate("new Promise(() => {})") }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            let other = try await browser.page()
            let crash = await #expect(throws: BrowserFailure.self) {
                try await other.open(#require(URL(string: "chrome://crash")))
            }
            #expect(crash != nil)
            async let waiting: JSONValue = page.evaluate("new Promise(() => {})")
            browser.kill()
            do {
                _ = try await waiting
                Issue.record("the wait ended without an error")
            } catch { #expect("\(error)".contains("the browser ended (killed(9))")) }
            await #expect(throws: BrowserFailure.self) { try await page.evaluate("1") }
        }
    }

    @Test("leaves no process and no profile behind, also without being closed")
    func end() async throws {
        var browser: Browser? = try await Browser()
        var page: Page? = try await browser?.page()
        try await page?.open(url("/next"))
        let profile = try #require(browser?.profile.path)
        #expect(Self.processes(with: profile) > 0)
        browser = nil
        // The page keeps it running.
        #expect(try await page?.evaluate("document.title") == "Next")
        page = nil
        #expect(await eventually { Self.processes(with: profile) == 0 })
        #expect(await eventually { !FileManager.default.fileExists(atPath: profile) })
    }

    /// The number of processes that name a path in their arguments.
    private static func processes(with path: String) -> Int {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.filter { Int($0) != nil }.count { process in
            let arguments = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
            return arguments.contains(path)
        }
    }
}
