import Foundation
import Testing

@Suite("The documentation")
struct DocumentationTests {
    @Test("says in Swift only what is compiled, and nothing that is compiled for it is left out")
    func examples() throws {
        let snippets = try Documents.snippets()
        var unused = Set(snippets.values)
        for document in try Documents.all() {
            for example in document.swiftExamples {
                unused.remove(example)
                #expect(
                    snippets.values.contains(example),
                    "\(document.name) has an example that is no snippet of ReadmeExamplesTests.swift:\n\(example)"
                )
            }
        }
        #expect(unused.isEmpty, "snippets that no document shows")
    }

    @Test("links only to files that are there")
    func links() throws {
        for document in try Documents.all() {
            for target in document.linkedPaths {
                let file = document.url.deletingLastPathComponent().appending(path: target)
                #expect(FileManager.default.fileExists(atPath: file.path), "\(document.name) links to \(target)")
            }
        }
    }

    @Test("names only source files and tests that are there")
    func names() throws {
        let files = try Documents.files(below: ["Sources", "Tests", "Benchmarks/Sources"])
            .filter { $0.pathExtension == "swift" }
        let tests = try files.filter { $0.path.contains("/Tests/") }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let known = Set(files.map(\.lastPathComponent))
        for document in try Documents.all() {
            for name in document.namedSourceFiles {
                #expect(known.contains(name), "\(document.name) names \(name)")
            }
            for title in document.namedTests {
                #expect(tests.contains("\"\(title)\"") || tests.contains("`\(title)`"), "\(document.name): \(title)")
            }
        }
    }
}

/// A Markdown file of the repository.
struct Document {
    let url: URL
    let text: String

    var name: String { url.lastPathComponent }

    init(_ url: URL) throws {
        self.url = url
        text = try String(contentsOf: url, encoding: .utf8)
    }

    /// The blocks fenced as `swift` and nothing else, without their imports, which stand at the top of the test file.
    var swiftExamples: [String] {
        var examples: [String] = []
        var lines: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                lines = []
            } else if line == "```", let block = lines {
                examples.append(Documents.normalized(block))
                lines = nil
            } else {
                lines?.append(line)
            }
        }
        return examples
    }

    /// The targets of links within the repository, without their fragments.
    var linkedPaths: [String] {
        text.matches(of: /\]\(([^)#:\s]+)(?:#[^)\s]*)?\)/).map { String($0.output.1) }
    }

    /// Swift files named in code voice, such as `Loading/Load.swift`.
    var namedSourceFiles: [String] {
        text.matches(of: /`(?:[A-Za-z+\/]+\/)?([A-Za-z+]+\.swift)`/).map { String($0.output.1) }
            .filter { $0 != "Package.swift" }
    }

    /// Titles of tests, written ‹like this› so that they can be told from other text.
    var namedTests: [String] {
        text.matches(of: /‹([^›]+)›/).map { String($0.output.1) }
    }

    /// Records an issue unless the document shows exactly this text.
    func expectToShow(_ output: String) {
        #expect(text.contains(output), "\(name) must show:\n\(output)")
    }
}

/// The documents of the repository that this test file belongs to.
enum Documents {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static var readme: Document {
        get throws { try Document(root.appending(path: "README.md")) }
    }

    static func all() throws -> [Document] {
        let top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"].map { root.appending(path: $0) }
        let below = try files(below: ["Docs", "Sources/Waystation/Waystation.docc"])
        return try (top + below.filter { $0.pathExtension == "md" }).map(Document.init)
    }

    static func files(below folders: [String]) throws -> [URL] {
        try folders.flatMap { folder in
            let top = root.appending(path: folder)
            return try FileManager.default.subpathsOfDirectory(atPath: top.path).sorted()
                .map { top.appending(path: $0) }
        }
    }

    /// The examples that are compiled, by name.
    static func snippets() throws -> [String: String] {
        let source = try String(
            contentsOf: root.appending(path: "Tests/EndToEndTests/ReadmeExamplesTests.swift"),
            encoding: .utf8
        )
        var snippets: [String: String] = [:]
        var open: (name: String, lines: [Substring])?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("// snippet: ") {
                open = (String(text.dropFirst("// snippet: ".count)), [])
            } else if text == "// end snippet", let snippet = open {
                #expect(snippets[snippet.name] == nil, "two snippets are named \(snippet.name)")
                snippets[snippet.name] = normalized(snippet.lines)
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        #expect(open == nil, "snippet \(open?.name ?? "") has no end")
        return snippets
    }

    /// Lines without imports, common indentation, and empty lines at either end.
    static func normalized(_ lines: [Substring]) -> String {
        let code = lines.filter { !$0.hasPrefix("import ") }
        let filled = code.filter { !$0.allSatisfy(\.isWhitespace) }
        let indentation = filled.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return code.map { $0.dropFirst(indentation) }.joined(separator: "\n")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
