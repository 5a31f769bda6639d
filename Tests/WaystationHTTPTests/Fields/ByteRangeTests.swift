import Testing
import WaystationHTTP

@Suite("Byte ranges (RFC 9110 §14)")
struct ByteRangeTests {
    @Test(
        "of ten bytes are resolved",
        arguments: [
            ("bytes=0-0", .part(0..<1)), ("bytes=9-", .part(9..<10)), ("bytes=5-100", .part(5..<10)),
            ("bytes=-1", .part(9..<10)), ("bytes=-11", .part(0..<10)), ("BYTES=0-1", .part(0..<2)),
            ("bytes= 0-1 ", .part(0..<2)), ("bytes=,\t0-1,", .part(0..<2)), ("bytes=007-008", .part(7..<9)),
            // §14.1.2: no number overflows.
            ("bytes=0-99999999999999999999", .part(0..<10)), ("bytes=-99999999999999999999", .part(0..<10)),
            ("bytes=0-9223372036854775807", .part(0..<10)), ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=99999999999999999998-99999999999999999999", .unsatisfiable),
            // §14.1.2: no byte at that position, and a suffix of no bytes.
            ("bytes=10-", .unsatisfiable), ("bytes=10-10", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            // §14.1.1: invalid, because the last position is before the first.
            ("bytes=5-4", .ignored), ("bytes=99999999999999999999-4", .ignored),
            // Several ranges, other units, no range.
            ("bytes=0-1,3-4", .ignored), ("bytes=10-,0-1", .ignored), ("items=0-1", .ignored), ("bytes", .ignored),
            ("bytes=", .ignored), ("bytes=,", .ignored), ("bytes=-", .ignored), ("bytes=a-b", .ignored),
            ("bytes=+0-1", .ignored), ("bytes=0--1", .ignored), ("bytes=0 - 1", .ignored), ("bytes =0-1", .ignored),
            ("=0-1", .ignored), ("", .ignored), ("bytes=\u{661}-\u{662}", .ignored),
        ] as [(String, ByteRange)]
    )
    func tenBytes(_ text: String, _ expected: ByteRange) {
        #expect(ByteRange(text, length: 10) == expected)
    }

    /// §14.1.2: "the only satisfiable form of range-spec … is a suffix-range with a non-zero suffix-length".
    @Test(
        "of no bytes: only a suffix is satisfiable, and it gives all of it",
        arguments: [
            ("bytes=-5", .ignored), ("bytes=-1", .ignored), ("bytes=-0", .unsatisfiable), ("bytes=0-", .unsatisfiable),
            ("bytes=0-0", .unsatisfiable), ("bytes=5-4", .ignored),
        ] as [(String, ByteRange)]
    )
    func empty(_ text: String, _ expected: ByteRange) {
        #expect(ByteRange(text, length: 0) == expected)
    }
}
