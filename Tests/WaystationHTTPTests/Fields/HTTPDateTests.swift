import Glibc
import Testing
import WaystationHTTP

@Suite("HTTP-date (RFC 9110 section 5.6.7)")
struct HTTPDateTests {
    /// 2026-11-21 14:00:00.
    private var now: HTTPDate { get throws { try #require(HTTPDate(secondsSinceEpoch: 1_795_269_600)) } }

    @Test(
        "All three forms are read",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            // A leap second is read as the next second; a wrong day name is ignored.
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            // Two-digit years: at most 50 years ahead, otherwise in the past.
            ("Saturday, 21-Nov-76 14:00:00 GMT", 3_373_192_800), ("Sunday, 21-Nov-76 14:00:01 GMT", 217_432_801),
            ("Thursday, 01-Jan-70 00:00:00 GMT", 3_155_760_000), ("Friday, 01-Jan-99 00:00:00 GMT", 915_148_800),
            ("Saturday, 01-Jan-00 00:00:00 GMT", 946_684_800),
        ]
    )
    func reading(_ text: String, seconds: Int) throws {
        #expect(HTTPDate(text, now: try now)?.secondsSinceEpoch == seconds)
    }

    @Test(
        "A text that is not an HTTP-date is refused",
        arguments: [
            "", "0", "Sun", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 gmt",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
            "Sun, 29 Feb 2023 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
            " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMTX", "Sun, 06 Nov 1994  08:49:37 GMT",
            "Sun,06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
            "Sun Nov 06 08:49:37 94", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT",
            "Xxx, 06 Nov 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z", "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov +994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        ]
    )
    func refusing(_ text: String) throws {
        #expect(HTTPDate(text, now: try now) == nil)
    }

    @Test("Dates are written as the C library formats them, and read back unchanged")
    func writing() throws {
        // The step is coprime with days and weeks and covers all years from 1 to 9999.
        for seconds in stride(from: -62_135_596_800, through: 253_402_300_799, by: 99_999_989) {
            var (time, parts, buffer) = (time_t(seconds), tm(), [CChar](repeating: 0, count: 64))
            gmtime_r(&time, &parts)
            let length = strftime(&buffer, buffer.count, "%a, %d %b %EY %H:%M:%S GMT", &parts)
            var expected = String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
            // The C library does not pad years to four digits.
            let year = String(Int(parts.tm_year) + 1900)
            expected.replace(" \(year) ", with: " " + String(repeating: "0", count: 4 - year.count) + year + " ")
            let date = try #require(HTTPDate(secondsSinceEpoch: seconds))
            #expect(date.fieldValue == expected)
            #expect(HTTPDate(date.fieldValue, now: try now) == date)
        }
    }

    @Test("Years that four digits cannot hold are refused")
    func limits() {
        #expect(HTTPDate(secondsSinceEpoch: -62_135_596_801) == nil)
        #expect(HTTPDate(secondsSinceEpoch: 253_402_300_800) == nil)
        #expect(HTTPDate(secondsSinceEpoch: .max) == nil)
        #expect(HTTPDate(secondsSinceEpoch: .min) == nil)
    }
}
