import Testing
import WaystationHTTP

@Suite("HTTP-date (RFC 9110 §5.6.7, RFC 9111 §4.2)")
struct DateTests {
    /// 2023-11-14 22:13:20.
    private static let now = HTTPDate(nearestTo: 1_700_000_000)

    @Test(
        "caches read the three forms without regard to case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "sun, 06 nov 1994 08:49:37 gmt", "SUN, 06 NOV 1994 08:49:37 GMT", "sunday, 06-NOV-94 08:49:37 Gmt",
            "sun nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
        ]
    )
    func valid(_ text: String) {
        #expect(HTTPDate(text, now: Self.now, ignoringCase: true)?.secondsSinceEpoch == 784_111_777)
    }

    @Test(
        "other readers than caches require the exact case",
        arguments: [
            "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 gmt",
            "SUNDAY, 06-Nov-94 08:49:37 GMT", "Sun NOV  6 08:49:37 1994",
        ]
    )
    func cases(_ text: String) {
        #expect(HTTPDate(text, now: Self.now) == nil)
        #expect(HTTPDate(text, now: Self.now, ignoringCase: true)?.secondsSinceEpoch == 784_111_777)
    }

    @Test(
        "a text that is not an HTTP-date gives nil",
        arguments: [
            "", "0", "-1", "784111777", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 30 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Xyz 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "1994-11-06T08:49:37Z",
            "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
            "Sun, 31 Dec 0000 23:59:60 GMT",
        ]
    )
    func invalid(_ text: String) {
        #expect(HTTPDate(text, now: Self.now, ignoringCase: true) == nil)
        #expect(HTTPDate(text, now: Self.now) == nil)
    }

    @Test(
        "a two-digit year is the latest that is at most 50 years ahead",
        arguments: [
            (1_700_000_000, "01-Jul-73 00:00:00", 2073), (1_700_000_000, "01-Jul-74 00:00:00", 1974),
            (1_700_000_000, "01-Jul-00 00:00:00", 2000), (930_787_200, "01-Jul-49 00:00:00", 2049),
            (930_787_200, "01-Jul-50 00:00:00", 1950),
            // Fifty years to the second, then one second, hour, day and month more.
            (1_700_000_000, "14-Nov-73 22:13:20", 2073), (1_700_000_000, "14-Nov-73 22:13:21", 1973),
            (1_700_000_000, "14-Nov-73 23:00:00", 1973), (1_700_000_000, "15-Nov-73 00:00:00", 1973),
            (1_700_000_000, "01-Dec-73 00:00:00", 1973), (1_700_000_000, "13-Nov-73 23:59:59", 2073),
            // A day that the later of the two years does not have: 2100 is not a leap year.
            (2_840_140_800, "29-Feb-00 00:00:00", 2000),
            // A moment before 1970, and one for which the year would need five digits.
            (-1, "31-Dec-19 23:59:59", 2019), (-1, "01-Jan-20 00:00:00", 1920),
            (253_402_300_799, "01-Jan-00 00:00:00", 9900),
        ]
    )
    func twoDigits(_ present: Int, _ text: String, _ expected: Int) throws {
        let date = try #require(HTTPDate("Monday, \(text) GMT", now: HTTPDate(nearestTo: present)))
        let days = (Double(date.secondsSinceEpoch) / 86_400).rounded(.down)
        #expect(CivilDay(daysSinceEpoch: Int(days)).year == expected)
    }

    @Test(
        "a leap second is read as the next second, and the very last one as the second before",
        arguments: [
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Fri, 31 Dec 9999 23:59:60 GMT", 253_402_300_799),
        ]
    )
    func leapSeconds(_ text: String, _ expected: Int) {
        #expect(HTTPDate(text, now: Self.now)?.secondsSinceEpoch == expected)
    }

    @Test("is written as IMF-fixdate", arguments: [784_111_777, 0, -1, 951_782_400, 253_402_300_799])
    func writing(_ seconds: Int) {
        let text = HTTPDate(nearestTo: seconds).fieldValue
        #expect(HTTPDate(text, now: Self.now)?.secondsSinceEpoch == seconds)
    }

    @Test("a moment outside the four-digit years becomes the nearest one, or nil if it must be exact")
    func outside() {
        #expect(HTTPDate(nearestTo: Int.max) == .latest)
        #expect(HTTPDate(nearestTo: Int.min) == .earliest)
        #expect(HTTPDate(nearestTo: 1e300) == .latest)
        #expect(HTTPDate(nearestTo: -Double.infinity) == .earliest)
        #expect(HTTPDate(nearestTo: -0.5).secondsSinceEpoch == -1)
        #expect(HTTPDate.latest.fieldValue == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.earliest.fieldValue == "Mon, 01 Jan 0001 00:00:00 GMT")
        #expect(HTTPDate(secondsSinceEpoch: 253_402_300_800) == nil)
        #expect(HTTPDate(secondsSinceEpoch: -62_135_596_801) == nil)
    }
}
