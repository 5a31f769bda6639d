import Testing
import WaystationHTTP

@Suite("The text of a field")
struct FieldTextTests {
    /// `caf`, and é by ISO 8859-1.
    private static let latin1: [UInt8] = [0x63, 0x61, 0x66, 0xE9]

    @Test(
        "has the bytes that came",
        arguments: [
            [], Array("plain".utf8), Array("caf\u{E9}".utf8), latin1, [0x22, 0xE9, 0x22], [0xC3], [0xC3, 0xA9, 0xE9],
            [0xFF, 0xFE, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], Array("\u{1F600}".utf8),
            // The private scalars themselves, as a server may spell them.
            Array("\u{EF80}".utf8), Array("a\u{EFFF}b".utf8), Array("\u{EF7F}\u{F000}".utf8), [0xEE], [0xEE, 0xBE],
            Array(0x80...0xFF),
        ] as [[UInt8]]
    )
    func roundTrip(bytes: [UInt8]) {
        #expect(FieldText.bytes(of: FieldText.text(of: bytes)) == bytes)
    }

    @Test("is that of its UTF-8, if it is UTF-8")
    func utf8() {
        #expect(FieldText.text(of: Array("caf\u{E9} \u{1F600}".utf8)) == "caf\u{E9} \u{1F600}")
        #expect(!FieldText.holdsBytes("caf\u{E9} \u{EF7F}\u{F000}\u{FFFD}"))
    }

    @Test("differs for each value, so that two tags are equal only if their bytes are")
    func distinct() {
        let values: [[UInt8]] = [Self.latin1, Array("caf\u{E9}".utf8), [0x63, 0x61, 0x66, 0xE8]]
        #expect(Set(values.map { FieldText.text(of: $0) }).count == values.count)
    }

    @Test("is shown to a reader as ISO 8859-1 if it is not UTF-8")
    func shown() {
        #expect(FieldText.shown(FieldText.text(of: Self.latin1)) == "caf\u{E9}")
        #expect(FieldText.shown(FieldText.text(of: [0xC3, 0xA9, 0xE9])) == "\u{C3}\u{A9}\u{E9}")
        #expect(FieldText.shown("caf\u{E9}") == "caf\u{E9}")
    }

    @Test(
        "is percent-encoded byte by byte in a URL",
        arguments: [
            ("/caf@", "/caf%E9"), ("/a%20@ b", "/a%20%E9%20b"), ("/@%zz%4", "/%E9%25zz%254"),
            ("/@[1]{2}?a=[b]\u{1}", "/%E9%5B1%5D%7B2%7D?a=%5Bb%5D%01"), ("http://[::1]:8/@[", "http://[::1]:8/%E9%5B"),
            ("//[::1]/@", "//[::1]/%E9"), ("a/@", "a/%E9"), ("http://h?@#@", "http://h?%E9#%E9"), ("@", "%E9"),
        ]
    )
    func percentEncoded(pattern: String, expected: String) {
        let bytes = pattern.utf8.map { $0 == UInt8(ascii: "@") ? 0xE9 : $0 }
        #expect(FieldText.percentEncoded(FieldText.text(of: bytes)) == expected)
    }

    @Test("is left alone in a URL if it is UTF-8")
    func notPercentEncoded() { #expect(FieldText.percentEncoded("/caf\u{E9} b") == "/caf\u{E9} b") }
}
