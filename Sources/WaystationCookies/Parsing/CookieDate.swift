import Foundation
import WaystationFields

/// The date of an `Expires` attribute (RFC 6265 §5.1.1).
///
/// The algorithm searches instead of matching a format: it takes tokens in any order as the time, the day, the month
/// and the year.
enum CookieDate {
    /// The moment, or `nil` when a part is missing, is out of its range, or the day does not exist.
    static func parse(_ text: Substring.UTF8View) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.split(whereSeparator: isDelimiter) {
            // The order of the four checks is the algorithm's: `12` is taken as a day unless a day was already found,
            // then as a year.
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1_900 } else if (0...69).contains(year) { year += 2_000 }
        guard year >= 1_601, time.hour <= 23, time.minute <= 59, time.second <= 59,
            let days = CivilDay(year: year, month: month, day: day)?.daysSinceEpoch
        else { return nil }
        return Date(timeIntervalSince1970: Double(((days * 24 + time.hour) * 60 + time.minute) * 60 + time.second))
    }

    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The number at a token's start, when it has as many digits as the range allows and a non-digit or the end
    /// follows.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let run = token.prefix(while: \.isASCIIDigit)
        guard digits.contains(run.count) else { return nil }
        return run.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func time(_ token: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].count <= 2, fields[0].allSatisfy(\.isASCIIDigit),
            fields[1].count <= 2, fields[1].allSatisfy(\.isASCIIDigit),
            let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static let months: [StaticString] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let start = token.prefix(3)
        return months.firstIndex(where: { start.equalsIgnoringCase($0) }).map { $0 + 1 }
    }
}
