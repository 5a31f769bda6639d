import Foundation
import WaystationTestSupport

/// A person in front of the kiosk's screen, whose browser keeps nothing from earlier visits.
struct Visitor: Sendable {
    let page: Page
    private let start: URL
    private let report: Report

    /// Makes a visitor.
    ///
    /// - Parameters:
    ///   - page: An empty page of the browser.
    ///   - start: The kiosk's start page.
    ///   - report: Gets a picture of each page.
    /// - Throws: `BrowserFailure` when the browser has ended.
    init(_ page: Page, start: URL, _ report: Report) async throws {
        (self.page, self.start, self.report) = (page, start, report)
        try await page.resize(1280, 800)
    }

    /// Opens the start page.
    func openStart() async throws { try await page.open(start) }

    /// Opens the start page, and follows one of its links.
    func open(_ name: String) async throws {
        try await openStart()
        try await page.click(.selector("nav a[href*='\(name)']"))
    }

    /// Waits until the page shows what it should, and adds a picture of it to the report.
    ///
    /// - Parameters:
    ///   - condition: A script's expression.
    ///   - title: The step, for the report.
    ///   - note: A further line about the step, such as the source of the page. It is read when the condition holds: until
    ///     then, the browser may still show the page before.
    /// - Throws: ``Unexpected`` if a page reported an error in its console, `BrowserFailure` if the condition does not
    ///   hold within two minutes.
    func see(
        _ condition: String,
        _ title: String,
        _ note: @autoclosure () async throws -> String = ""
    ) async throws {
        try await page.waitUntil(condition)
        try report.add(title, try await note(), picture: try await page.screenshot())
        let errors = page.consoleErrors
        guard errors.isEmpty else {
            throw Unexpected("\(title): the page reported \(errors.joined(separator: "; "))")
        }
    }
}
