import Testing

@testable import WaystationCLI

@Suite("A suggestion")
struct SpellingTests {
    private static let known = ["directory", "maximum-size", "maximum-age", "proxy", "at", "via", "url"]

    @Test(
        "is the known word that is close, whatever its case and its hyphens",
        arguments: [
            ("direktory", "directory"), ("dir", nil), ("MaximumSize", "maximum-size"), ("maximum_age", "maximum-age"),
            ("porxy", "proxy"), ("uri", "url"), ("vai", "via"), ("", nil), ("--", nil), ("something", nil),
        ] as [(String, String?)]
    )
    func suggestion(word: String, expected: String?) {
        #expect(Spelling.suggestion(for: word, among: Self.known) == expected)
    }
}
