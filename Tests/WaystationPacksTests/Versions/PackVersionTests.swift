import Foundation
import Testing
import WaystationPacks

@Suite struct PackVersionTests {
    @Test(
        "A lower version comes before a higher one, number by number",
        arguments: [
            ("1.9", "1.10"), ("1", "2"), ("0.9.9", "1"), ("1.0", "1.0.1"), ("1.2.3", "1.2.10"), ("9", "10"),
            ("1.0-alpha", "1.0"), ("1.0-alpha", "1.0-alpha.1"), ("1.0-alpha.1", "1.0-alpha.beta"),
            ("1.0-alpha.beta", "1.0-beta"), ("1.0-beta.2", "1.0-beta.11"), ("1.0-rc.1", "1.0.0"), ("1.0", "1.1-alpha"),
            ("18446744073709551614", "18446744073709551615"),
        ]
    )
    func order(low: String, high: String) throws {
        let (low, high) = (try Sample.version(low), try Sample.version(high))
        #expect(low < high)
        #expect(!(high < low))
        #expect(low != high)
    }

    @Test(
        "Trailing zeros and leading zeros of a number do not matter",
        arguments: [("1", "1.0"), ("1.0.0", "1"), ("01.2", "1.2"), ("0", "0.0"), ("1.0-a", "1-a")]
    )
    func equality(one: String, other: String) throws {
        let (one, other) = (try Sample.version(one), try Sample.version(other))
        #expect(one == other)
        #expect(!(one < other) && !(other < one))
        #expect(Set([one, other]).count == 1)
    }

    @Test(
        "A malformed version is refused",
        arguments: [
            "", ".", "1.", ".1", "1..2", "v1", "1.x", "-1", "+1", "1.-2", "1 .2", "1.2 ", "1-", "1-a..b", "1-ä",
            "1-a b",
            "18446744073709551616", "١", "1/2", "../1",
        ]
    )
    func refusal(text: String) {
        #expect(PackVersion(text) == nil)
    }

    @Test("64 characters are allowed, 65 are refused")
    func length() {
        #expect(PackVersion(String(repeating: "1.", count: 31) + "11") != nil)
        #expect(PackVersion(String(repeating: "1.", count: 32) + "1") == nil)
    }

    @Test("A version keeps its spelling, even in JSON")
    func spelling() throws {
        let version = try Sample.version("1.10.0")
        #expect(version.description == "1.10.0")
        #expect(try JSONEncoder().encode([version]) == Data(#"["1.10.0"]"#.utf8))
        #expect(try JSONDecoder().decode([PackVersion].self, from: Data(#"["1.10.0"]"#.utf8)) == [version])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([PackVersion].self, from: Data(#"["one"]"#.utf8))
        }
    }
}
