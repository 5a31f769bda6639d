import Foundation

/// Dates of HTTP (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT` and the two obsolete forms.
enum HTTPDate {
    static func date(from text: String) -> Date? {
        let words = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
        // Sun, 06 Nov 1994 08:49:37 GMT · Sunday, 06-Nov-94 08:49:37 GMT
        if words.count == 6, words[5] == "GMT" {
            return date(day: words[1], month: words[2], year: words[3], time: words[4])
        }
        // Sun Nov  6 08:49:37 1994
        if words.count == 5 {
            return date(day: words[2], month: words[1], year: words[4], time: words[3])
        }
        return nil
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func date(day: String, month: String, year: String, time: String) -> Date? {
        let clock = time.split(separator: ":").compactMap { Int($0) }
        guard let day = Int(day), let month = months.firstIndex(of: month), var year = Int(year), clock.count == 3,
            (1...31).contains(day), (0...23).contains(clock[0]), (0...59).contains(clock[1]),
            (0...60).contains(clock[2])
        else { return nil }
        // Two digits mean this century or, when that is more than 50 years ahead, the last; 70 does for our purpose.
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(
            from: DateComponents(
                year: year,
                month: month + 1,
                day: day,
                hour: clock[0],
                minute: clock[1],
                second: clock[2]
            )
        )
    }
}
