import Foundation
import Testing
import WaystationPacks

@Suite struct ModuleIDTests {
    @Test(
        "Letters, digits, dots, underscores and hyphens are allowed",
        arguments: ["a", "shop", "A-1_b.c", "-", "_", "7"]
    )
    func name(text: String) throws {
        let module = try Sample.module(text)
        #expect(module.description == text)
    }

    @Test(
        "A text that could lead out of a directory, or has other characters, is refused",
        arguments: ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "ä", "a:b", "%2e", "a\n"]
    )
    func refusal(text: String) {
        #expect(ModuleID(text) == nil)
    }

    @Test("NUL is refused")
    func nul() {
        #expect(ModuleID("a\u{0}") == nil)
    }

    @Test("64 characters are allowed, 65 are refused")
    func length() {
        #expect(ModuleID(String(repeating: "a", count: 64)) != nil)
        #expect(ModuleID(String(repeating: "a", count: 65)) == nil)
    }

    @Test("Names are ordered by their bytes")
    func order() throws {
        let names = try ["b", "B", "a-1", "a.1", "a"].map(Sample.module)
        #expect(names.sorted().map(\.description) == ["B", "a", "a-1", "a.1", "b"])
    }

    @Test("A module ID is a string in JSON, and a malformed one causes an error")
    func coding() throws {
        let module = try Sample.module("shop")
        #expect(try JSONEncoder().encode([module]) == Data(#"["shop"]"#.utf8))
        #expect(try JSONDecoder().decode([ModuleID].self, from: Data(#"["shop"]"#.utf8)) == [module])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ModuleID].self, from: Data(#"["../shop"]"#.utf8))
        }
    }
}
