import HTTPTypes
import Testing

@testable import WaystationHTTP

@Suite struct ValidatorsTests {
    private static let early = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let late = "Sun, 06 Nov 1994 08:49:38 GMT"

    @Test("A strong entity tag is used with its quotes, and preferred to a date")
    func strongTag() {
        let validators = Validators([.eTag: "\"v1\"", .lastModified: Self.early, .date: Self.late])
        #expect(validators.condition == "\"v1\"")
    }

    @Test(
        "RFC 9110 §13.1.5: a weak entity tag is not used with ranges",
        arguments: ["W/\"v1\"", "w/\"v1\"", "v1", "\"", "\"a\", \"b\""]
    )
    func weakTag(tag: String) {
        #expect(Validators([.eTag: tag]).condition == nil)
    }

    @Test("RFC 9110 §8.8.2.2: a date is strong if the response was made at least a second after it")
    func dates() {
        #expect(Validators([.lastModified: Self.early, .date: Self.late]).condition == Self.early)
        #expect(Validators([.lastModified: Self.early, .date: Self.early]).condition == nil)
        #expect(Validators([.lastModified: Self.late, .date: Self.early]).condition == nil)
        #expect(Validators([.lastModified: Self.early]).condition == nil)
        #expect(Validators([.lastModified: "yesterday", .date: Self.late]).condition == nil)
    }

    @Test("Parts with other validators belong to another file; parts without validators may belong to the same one")
    func contradiction() {
        let first = Validators([.eTag: "\"1\""])
        #expect(Validators([.eTag: "\"2\""]).contradicts(first))
        #expect(!Validators([.eTag: "\"1\""]).contradicts(first))
        #expect(!Validators([:]).contradicts(first))
        let dated = Validators([.lastModified: Self.early, .date: "Sun, 06 Nov 1994 08:50:00 GMT"])
        let later = Validators([.lastModified: Self.late, .date: "Sun, 06 Nov 1994 08:50:00 GMT"])
        #expect(later.contradicts(dated))
        #expect(!dated.contradicts(dated))
    }
}
