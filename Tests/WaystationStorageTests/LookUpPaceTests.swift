import Testing

@testable import WaystationStorage

@Suite("The pace of look-ups")
struct LookUpPaceTests {
    @Test("callers wait one at a time, as long as look-ups are quick")
    func quick() {
        var pace = LookUpPace()
        for _ in 0..<3 {
            let first = pace.begin()
            let second = pace.begin()
            #expect(first)
            #expect(!second, "one is under way")
            pace.end(after: LookUpPace.quick)
        }
    }

    @Test("after a slow look-up the next ones are made elsewhere, and then callers wait again")
    func slow() {
        var pace = LookUpPace()
        _ = pace.begin()
        pace.end(after: LookUpPace.quick + 1)
        let refused = (0..<LookUpPace.penalty).map { _ in pace.begin() }
        let again = pace.begin()
        #expect(!refused.contains(true))
        #expect(again)
    }
}
