import Foundation
import Testing
import WaystationRecording

@Suite("The documentation")
struct DocumentationTests {
    @Test("and the comments show only compiled Swift examples, and every compiled example is shown")
    func examples() throws {
        let snippets = try Documents.snippets()
        let documents = try Documents.all().flatMap(\.swiftExamples)
        let comments = try Documents.files(below: ["Sources"]).filter { $0.pathExtension == "swift" }
            .flatMap { SwiftExample.examples(inCommentsOf: try String(contentsOf: $0, encoding: .utf8), file: $0) }
        #expect(!documents.isEmpty)
        #expect(!comments.isEmpty)
        let shown = documents + comments
        for example in shown where !snippets.values.contains(example.code) {
            Issue.record(
                "\(example.place) has an example that is not a snippet below Tests/EndToEndTests:\n\(example.code)"
            )
        }
        let unused = snippets.filter { snippet in !shown.contains { $0.code == snippet.value } }.keys.sorted()
        #expect(unused.isEmpty, "snippets that no document and no comment shows")
    }

    @Test("begins, and its first tutorial ends, with the program of Examples/FirstLoad")
    func firstProgram() throws {
        let readme = try Documents.readme
        let program = try #require(readme.text.firstMatch(of: /(?s)```swift program\n(.*?)```/))
        let compiled = try Documents.file("Examples/FirstLoad/Sources/app/app.swift")
        #expect(String(program.output.1) == compiled)
        let catalogue = "Sources/Waystation/Waystation.docc"
        #expect(try Documents.file("\(catalogue)/Tutorials/Code/LoadTwice-4.swift") == compiled)
    }

    @Test("shows a first test that is one of Examples/FirstLoad")
    func firstTest() throws {
        let test = try #require(try Documents.readme.text.firstMatch(of: /(?s)```swift test\n(.*?)```/))
        let compiled = try Documents.file("Examples/FirstLoad/Tests/FirstLoadTests/shopTests.swift")
        #expect(String(test.output.1) == compiled)
    }

    @Test("names the version of the tool in every dependency that it shows")
    func version() throws {
        for document in try Documents.all() {
            for match in document.text.matches(of: /\.package\(url: "…", from: "([^"]*)"/) {
                #expect(match.output.1 == SoftwareVersion.current, "\(document.name): \(match.output.0)")
            }
        }
        let readme = try Documents.readme
        #expect(readme.text.contains("version \(SoftwareVersion.current)"))
    }

    @Test("in comments has its examples found at any indentation, also without an end")
    func comments() {
        let source = """
            /// Does it.
            ///
            /// ```swift
            /// import Waystation
            /// do {
            ///     it()
            /// }
            /// ```
            /// ```
            /// no Swift
            /// ```
            struct It {
                /// - Parameter it: As in
                ///   ```swift
                ///   first()
                ///
                ///   second()
                ///   ```
                func it() {}
                let text = "/// ```swift"

                /// ```swift
                /// noEnd()
                func first() {}
            }
            """
        let found = SwiftExample.examples(inCommentsOf: source, file: URL(filePath: "/It.swift"))
        #expect(found.map(\.code) == ["do {\n    it()\n}", "first()\n\nsecond()", "noEnd()"])
        #expect(found.map(\.place) == ["It.swift:3", "It.swift:14", "It.swift:22"])
    }

    @Test("links only to files that exist")
    func links() throws {
        for document in try Documents.all() {
            for target in document.linkedPaths {
                let file = document.url.deletingLastPathComponent().appending(path: target)
                #expect(FileManager.default.fileExists(atPath: file.path), "\(document.name) links to \(target)")
            }
        }
    }

    @Test("names only source files and tests that exist")
    func names() throws {
        let files = try Documents.files(below: ["Sources", "Tests", "Benchmarks/Sources", "Examples"])
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

    @Test("names in code voice only what the code names, folders and commands that are there")
    func codeNames() throws {
        let words = try CodeWords()
        let folders = try Documents.folders()
        let commands = try Documents.commands()
        // Names from outside the project: JavaScript's, the standard library's, Foundation's.
        let foreign: Set = [
            "encodeURI", "encodeURIComponent", "fatalError", "Process", "networkServiceType", "requestHeaderFields",
            "CFURLSessionCurlHostIsEqual", "removeAllCachedResponses", "removeCachedResponse", "removeCachedResponses",
            "cachedResponse", "currentDiskUsage", "memoryCapacity", "diskCapacity", "willCacheResponse", "MockAgent",
            "SnapshotAgent", "allowsJSON5",
        ]
        // The change log names what was removed, too. The article about other libraries names theirs; EquivalentTests
        // checks the names of ours in it.
        let exempt: Set = ["CHANGELOG.md", "ComingFromOtherLibraries.md"]
        for document in try Documents.all() where !exempt.contains(document.name) {
            for name in document.codeNames {
                let unknown = name.matches(of: /\w+/).map { String($0.output) }
                    .filter { !words.contains($0) && !folders.contains($0) && !foreign.contains($0) }
                #expect(unknown.isEmpty, "\(document.name) names \(name)")
            }
            for folder in document.namedFolders {
                #expect(folders.contains(folder), "\(document.name) names the folder \(folder)")
            }
            for command in document.namedCommands {
                #expect(commands.contains(command), "\(document.name) names make \(command)")
            }
        }
    }

    @Test("a name that no code has is found, and one that only a comment has")
    func unknownNames() {
        let document = Document(
            "See `Gone.method(of:)`, `Here/`, `.also(…)`, `x`, `make it` and\n```\n`NotAName`\n```\n",
            at: URL(filePath: "/A.md")
        )
        #expect(document.codeNames == ["Gone.method(of:)", ".also(…)"])
        #expect(document.namedFolders == ["Here"])
        #expect(document.namedCommands == ["it"])
        let words = CodeWords(of: "let kept = \"http://a.test\"  // and Gone\n/// Gone too\n")
        #expect(words.contains("kept"))
        #expect(words.contains("test"))
        #expect(!words.contains("Gone"))
    }
}

/// The words of the project's code, without its comments.
struct CodeWords {
    private var words: Set<Substring> = []

    init(of text: String) { add(text) }

    /// The words of every Swift, Python and C file.
    init() throws {
        let endings: Set = ["swift", "py", "c", "h", "cc"]
        for file in try Documents.files(below: ["Sources", "Tests", "Benchmarks", "Examples", "Scripts"])
        where endings.contains(file.pathExtension) {
            add(try String(contentsOf: file, encoding: .utf8))
        }
    }

    func contains(_ word: String) -> Bool { words.contains(word[...]) }

    private mutating func add(_ text: String) {
        for line in text.split(separator: "\n") {
            // A comment follows a space or begins the line; the slashes of a URL do not.
            let code = line.firstRange(of: /(?:^|\s)\/\//).map { line[..<$0.lowerBound] } ?? line
            words.formUnion(code.split { !($0.isLetter || $0.isNumber || $0 == "_") })
        }
    }
}

/// A Markdown file of the repository, or a tutorial of the documentation's site.
struct Document {
    let url: URL
    let text: String

    var name: String { url.lastPathComponent }

    init(_ url: URL) throws {
        self.init(try String(contentsOf: url, encoding: .utf8), at: url)
    }

    init(_ text: String, at url: URL) {
        (self.url, self.text) = (url, text)
    }

    var swiftExamples: [SwiftExample] { SwiftExample.examples(in: text, file: url) }

    /// The targets of links within the repository, without their fragments.
    var linkedPaths: [String] {
        text.matches(of: /\]\(([^)#:\s]+)(?:#[^)\s]*)?\)/).map { String($0.output.1) }
    }

    /// Swift files named in code voice, such as `Loading/Load.swift`.
    var namedSourceFiles: [String] {
        text.matches(of: /`(?:[A-Za-z+\/]+\/)?([A-Za-z+]+\.swift)`/).map { String($0.output.1) }
            .filter { $0 != "Package.swift" }
    }

    /// Text in code voice, such as `Load.deliver`, outside of blocks of code.
    private var codeVoice: [String] {
        let blocks = /(?ms)^[ \t]*```.*?^[ \t]*```/
        return text.replacing(blocks, with: "").matches(of: /`([^`\n]+)`/).map { String($0.output.1) }
    }

    /// Names of types, members and functions in code voice: a word with a capital inside, or with parentheses.
    var codeNames: [String] {
        codeVoice.filter { name in
            name.wholeMatch(of: /\.?[A-Za-z_]\w*(?:\.\w+)*(?:\([\w:…, .()]*\))?/) != nil
                && name.contains(/[a-z][A-Z]|\(/) && !name.hasSuffix(".swift")
        }
    }

    /// Folders of sources in code voice, such as `Loading/`.
    var namedFolders: [String] {
        codeVoice.filter { $0.wholeMatch(of: /[A-Z]\w*\//) != nil }.map { String($0.dropLast()) }
    }

    /// The targets of make in code voice.
    var namedCommands: [String] {
        codeVoice.compactMap { $0.prefixMatch(of: /make ([\w-]+)/).map { String($0.output.1) } }
    }

    /// The display names of tests, which documents write ‹like this› to mark them.
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

    /// An article of the documentation's site, by its name.
    static func article(_ name: String) throws -> Document {
        try Document(root.appending(path: "Sources/Waystation/Waystation.docc/\(name).md"))
    }

    static func file(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    static func all() throws -> [Document] {
        let top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
            .map { root.appending(path: $0) }
        let below = try files(below: ["Docs", "Sources/Waystation/Waystation.docc"])
        return try (top + below.filter { ["md", "tutorial"].contains($0.pathExtension) }).map(Document.init)
    }

    static func files(below folders: [String]) throws -> [URL] {
        try folders.flatMap { folder in
            let top = root.appending(path: folder)
            return try FileManager.default.subpathsOfDirectory(atPath: top.path).sorted()
                .map { top.appending(path: $0) }
        }
    }

    /// The names of all folders that hold code.
    static func folders() throws -> Set<String> {
        Set(try files(below: ["Sources", "Tests", "Benchmarks", "Examples"]).flatMap { $0.pathComponents.dropLast() })
    }

    /// The targets of the Makefile.
    static func commands() throws -> Set<String> {
        let makefile = try String(contentsOf: root.appending(path: "Makefile"), encoding: .utf8)
        return Set(makefile.matches(of: /(?m)^([\w-]+):/).map { String($0.output.1) })
    }

    /// The examples that are compiled, by name.
    static func snippets() throws -> [String: String] {
        var snippets: [String: String] = [:]
        for file in try files(below: ["Tests/EndToEndTests"]) where file.pathExtension == "swift" {
            try add(snippetsOf: file, to: &snippets)
        }
        return snippets
    }

    private static func add(snippetsOf file: URL, to snippets: inout [String: String]) throws {
        var open: (name: String, lines: [Substring])?
        for line in try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        ) {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("// snippet: ") {
                #expect(open == nil, "snippet \(open?.name ?? "") has no end")
                open = (String(text.dropFirst("// snippet: ".count)), [])
            } else if text == "// end snippet", let snippet = open {
                #expect(snippets[snippet.name] == nil, "two snippets are named \(snippet.name)")
                snippets[snippet.name] = SwiftExample.normalized(snippet.lines)
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        #expect(open == nil, "snippet \(open?.name ?? "") has no end")
    }
}
