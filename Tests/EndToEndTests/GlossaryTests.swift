import Foundation
import Testing
import WaystationProcesses
import WaystationTestSupport

/// `make lint` runs the script of these tests.
@Suite("The words of the glossary")
struct GlossaryTests {
    private static let glossary = """
        ## Words

        | Word | Meaning | Types |
        | --- | --- | --- |
        | hop | one request of a load | `Hop`, `HopReceiver` |
        | pack | a zip of web files | `*Pack*` |

        ## Next
        """

    private func check(_ source: String, _ glossary: String = glossary) throws -> (isClean: Bool, text: String) {
        let root = try TemporaryDirectory()
        try root.write(glossary, to: "Docs/Architecture.md")
        try root.write(source, to: "Sources/A/A.swift")
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Scripts/words.py")
        let outcome = try SpawnedProcess.run(
            "/usr/bin/env",
            ["python3", script.path(percentEncoded: false), root.url.path(percentEncoded: false)]
        )
        return (outcome.ending == .exited(0), String(decoding: outcome.output, as: UTF8.self))
    }

    private static let declared = "struct Hop {}\nfinal class HopReceiver {}\nenum PackKind { class func hops() {} }\n"

    @Test("are those of the types in its rows")
    func clean() throws {
        let found = try check(Self.declared + "struct Shop {}\n@MainActor struct Hopeful {}\n")
        #expect(found.isClean, "\(found.text)")
    }

    @Test(
        "are used by no other type",
        arguments: ["struct HopTable {}", "@unchecked final class WebHops {}", "  private enum HoppingHop {}"]
    )
    func other(_ declaration: String) throws {
        let found = try check(Self.declared + declaration + "\n")
        #expect(!found.isClean)
        #expect(found.text.contains("uses the word “hop”, which the glossary has for other types"))
    }

    @Test("are not kept for types that are gone, and are at most twenty")
    func stale() throws {
        let gone = try check("struct Hop {}\nstruct Pack {}\n")
        #expect(gone.text == "Docs/Architecture.md: the glossary names the type HopReceiver, which is not there\n")
        #expect(!gone.isClean)
        let rows = (0..<21).map { _ in "| hop | one request | `Hop` |" }.joined(separator: "\n")
        #expect(try !check("struct Hop {}\n", "## Words\n\n\(rows)\n\n## Next\n").isClean)
        #expect(try !check(Self.declared, "# Architecture\n").isClean)
    }
}
