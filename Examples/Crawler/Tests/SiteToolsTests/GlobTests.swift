import Testing

@testable import SiteTools

@Suite("Globs")
struct GlobTests {
    @Test(
        "a star matches any characters, all others match themselves",
        arguments: [
            ("*", "anything", true), ("a*c", "abc", true), ("a*c", "abd", false), ("a?c", "a?c", true),
            ("a?c", "abc", false),
            ("*a*b*", "xaxbx", true), ("a", "ab", false), ("**a", "a", true), ("", "", true), ("", "a", false),
        ]
    )
    func glob(pattern: String, text: String, matches: Bool) {
        #expect(Glob(pattern).matches(text) == matches)
    }
}
