import Foundation
import SiteTools  // As another package imports it.
import Testing
import WaystationHTTP

@Suite("The README of the crawler")
struct ReadmeTests {
    @Test("shows how to read the links of a page within the rules of its site")
    func links() throws {
        let page = Data(#"<link rel="stylesheet" href="a.css"><a href="/b">b</a><a href="/private/c">c</a>"#.utf8)
        let robots = Array("User-agent: *\nDisallow: /private/".utf8)
        var printed: [String] = []
        func print(_ kind: String, _ url: CanonicalURL) { printed.append("\(kind) \(url)") }
        // snippet
        let rules = RobotsRules(status: 200, body: robots, agent: "examplebot")
        if let url = CanonicalURL(page: "https://example.org/docs/") {
            let found = LinkExtractor.links(in: page, mimeType: "text/html", charset: nil, url: url, kind: .page)
            for link in found.links where rules.allows(link.url) {
                print(link.kind.name, link.url)  // style sheet https://example.org/docs/a.css
            }
        }
        // end snippet
        #expect(printed == ["style sheet https://example.org/docs/a.css", "link https://example.org/b"])
    }

    @Test("shows only code that is compiled")
    func snippets() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        func text(_ path: String) throws -> String {
            try String(contentsOf: package.appending(path: path), encoding: .utf8)
        }
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let compiled = try ["Sources/Crawler/SiteSession.swift", "Tests/SiteToolsTests/ReadmeTests.swift"]
            .map { lines(try text($0)) }
        let shown = try text("README.md").matches(of: /(?s)```swift\n(.*?)```/).map { lines($0.output.1) }
        #expect(shown.count == 5)
        for example in shown {
            #expect(compiled.contains { $0.contains(example) }, "\(example.joined(separator: "\n"))")
        }
    }
}
