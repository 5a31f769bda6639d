import Testing

@testable import WaystationCaching

@Suite("HTTP-date (RFC 9110 §5.6.7, RFC 9111 §4.2)")
struct DateTests {
    @Test(
        "the three forms, without regard to case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "sun, 06 nov 1994 08:49:37 gmt", "SUN, 06 NOV 1994 08:49:37 GMT", "sunday, 06-NOV-94 08:49:37 Gmt",
            "sun nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
        ]
    )
    func valid(_ text: String) {
        #expect(HTTPDate.seconds(text, presentYear: 2023) == 784_111_777)
    }

    @Test(
        "what is no date",
        arguments: [
            "", "0", "-1", "784111777", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 30 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Xyz 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "1994-11-06T08:49:37Z",
            "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
        ]
    )
    func invalid(_ text: String) {
        #expect(HTTPDate.seconds(text, presentYear: 2023) == nil)
    }

    @Test(
        "a year of two digits is the latest that is no more than 50 years ahead",
        arguments: [(2023, "73", 2073), (2023, "74", 1974), (2023, "00", 2000), (1999, "49", 2049), (1999, "50", 1950)]
    )
    func twoDigits(_ present: Int, _ digits: String, _ expected: Int) {
        let seconds = HTTPDate.seconds("Monday, 01-Jul-\(digits) 00:00:00 GMT", presentYear: present)
        #expect(seconds.map { HTTPDate.year(ofSeconds: Double($0)) } == expected)
    }

    @Test("is written as IMF-fixdate", arguments: [784_111_777, 0, -1, 951_782_400, 253_402_300_799])
    func writing(_ seconds: Int) {
        #expect(HTTPDate.seconds(HTTPDate.text(seconds), presentYear: 2023) == seconds)
    }

    @Test("a moment that no year of four digits has is written as the nearest", arguments: [Int.max, Int.min])
    func outside(_ seconds: Int) {
        #expect(HTTPDate.text(seconds).hasSuffix("GMT"))
    }
}
