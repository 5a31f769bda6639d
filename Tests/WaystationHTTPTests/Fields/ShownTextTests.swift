import Testing
import WaystationHTTP

@Suite("Text of others in messages")
struct ShownTextTests {
    @Test(
        "has no character that is hidden, or that controls a terminal or a log",
        arguments: [
            ("a\u{1B}[31mb", "a\\u{1B}[31mb"), ("a\r\nb\tc", "a\\r\\nb\\tc"),
            ("a\u{0}b\u{7F}\u{9B}", "a\\0b\\u{7F}\\u{9B}"),
            ("a\u{202E}b\u{200B}\u{FEFF}", "a\\u{202E}b\\u{200B}\\u{FEFF}"),
            ("a\u{2028}b\u{2029}", "a\\u{2028}b\\u{2029}"),
            ("a\u{E000}\u{E0041}", "a\\u{E000}\\u{E0041}"),
            ("grün 水 👩‍👩‍👧 \\ \"", "grün 水 👩\\u{200D}👩\\u{200D}👧 \\ \""),
        ]
    )
    func escapes(text: String, expected: String) {
        #expect(text.shown() == expected)
        #expect(expected.shown() == expected)
    }

    @Test("is cut, and says so", arguments: [0, 1, 79, 80, 81, 1_000])
    func cut(count: Int) {
        let text = String(repeating: "é", count: count)
        #expect(text.shown() == (count > 80 ? text.prefix(80) + "…" : text))
        #expect(text.dropFirst(1).shown(upTo: 3) == (count > 4 ? "ééé…" : text.dropFirst(1)))
    }

    @Test("is quoted so that its end is clear")
    func quotes() {
        #expect("a\" is fine; \"b\n".quoted() == #""a\" is fine; \"b\n""#)
        #expect(String(repeating: "a", count: 9).quoted(upTo: 3) == "\"aaa…\"")
    }
}
