import Testing
import WaystationRules

@Suite struct CanonicalURLTests {
    @Test func hello() { #expect(CanonicalURL("HTTP://A/")?.string == "http://a/") }
}
