import Testing

@testable import WaystationHTTP

@Suite struct ContentRangeTests {
    @Test("RFC 9110 §14.4: a byte range is read")
    func reading() {
        #expect(ContentRange("bytes 42-1233/1234") == .part(first: 42, last: 1233, total: 1234))
        #expect(ContentRange("bytes 42-1233/*") == .part(first: 42, last: 1233, total: nil))
        #expect(ContentRange("bytes */1234") == .unsatisfied(total: 1234))
        #expect(ContentRange("Bytes 0-0/1") == .part(first: 0, last: 0, total: 1))
    }

    @Test(
        "An invalid byte range gives nil",
        arguments: [
            "", "bytes", "bytes 1-2", "bytes 2-1/5", "bytes 0-5/5", "bytes 0-4/5/6", "items 0-1/2", "bytes */*",
            "bytes -1-2/3", "bytes 0--2/3", "bytes +0-1/2", "bytes 0-1/ 2", "bytes a-b/c", "bytes 0-1-2/3",
            "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*", "bytes 0-1/99999999999999999999",
        ]
    )
    func refusal(value: String) {
        #expect(ContentRange(value) == nil)
    }
}
