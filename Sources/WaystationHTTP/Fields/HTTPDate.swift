/// A point in time as HTTP writes it, in whole seconds of UTC (RFC 9110 §5.6.7).
///
/// Covers the years 1 to 9999 of the proleptic Gregorian calendar.
public struct HTTPDate: Sendable, Hashable, Comparable {
    /// 0001-01-01 00:00:00 UTC.
    package static let earliest = HTTPDate(unchecked: -62_135_596_800)
    /// 1970-01-01 00:00:00 UTC.
    package static let epoch = HTTPDate(unchecked: 0)
    /// 9999-12-31 23:59:59 UTC.
    package static let latest = HTTPDate(unchecked: 253_402_300_799)

    /// Seconds since 1970-01-01 00:00:00 UTC, without leap seconds.
    public let secondsSinceEpoch: Int

    private init(unchecked secondsSinceEpoch: Int) {
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// Makes a date; nil outside the years 1 to 9999.
    public init?(secondsSinceEpoch: Int) {
        guard (Self.earliest.secondsSinceEpoch...Self.latest.secondsSinceEpoch).contains(secondsSinceEpoch) else {
            return nil
        }
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// Makes a date; a time outside the years 1 to 9999 becomes the nearest date.
    package init(nearestTo seconds: Int) {
        secondsSinceEpoch = min(max(seconds, Self.earliest.secondsSinceEpoch), Self.latest.secondsSinceEpoch)
    }

    /// Makes a date of the second that contains a time; a time outside the years 1 to 9999 becomes the nearest date.
    package init(nearestTo seconds: Double) {
        self.init(nearestTo: Int(exactly: seconds.rounded(.down)) ?? (seconds > 0 ? .max : .min))
    }

    /// Orders dates by time.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
        left.secondsSinceEpoch < right.secondsSinceEpoch
    }

    /// IMF-fixdate, the only form that may be sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var fieldValue: String {
        let (days, seconds) = secondsSinceEpoch.quotientAndRemainder(flooringBy: 86_400)
        let day = CivilDay(daysSinceEpoch: days)
        let weekday = Self.shortWeekdays[(days + 4).quotientAndRemainder(flooringBy: 7).remainder]
        let date = "\(weekday), \(padded(day.day, 2)) \(Self.months[day.month - 1]) \(padded(day.year, 4))"
        return "\(date) \(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2)) GMT"
    }

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let shortWeekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    /// The names of the months, as dates write them.
    package static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

extension HTTPDate {
    /// Parses any of the three forms of HTTP-date.
    ///
    /// The forms are IMF-fixdate `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete ones that a recipient must still
    /// accept: RFC 850 `Sunday, 06-Nov-94 08:49:37 GMT` and asctime `Sun Nov  6 08:49:37 1994`. The name of the day
    /// must be valid, but need not be the right one. A leap second is read as the following second, or as the preceding
    /// one at the end of the year 9999. The local time zone has no influence.
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: The current time, for two-digit years: a date that seems more than 50 years ahead, to the second, is
    ///     taken as one in the past.
    ///   - ignoringCase: Whether to ignore case. HTTP-date is case-sensitive (§5.6.7), but not for caches (RFC 9111
    ///     §4.2).
    public init?(_ text: String, now: HTTPDate, ignoringCase: Bool = false) {
        var reader = DateReader(text, ignoringCase: ignoringCase)
        guard let date = reader.imfFixdate() ?? reader.rfc850(now: now) ?? reader.asctime() else { return nil }
        self = date
    }
}

/// Reads the fixed layouts; each form is read from the beginning of the text.
private struct DateReader {
    private let text: [UInt8]
    private let ignoringCase: Bool
    private var position = 0

    init(_ text: String, ignoringCase: Bool) {
        self.text = Array(text.utf8)
        self.ignoringCase = ignoringCase
    }

    mutating func imfFixdate() -> HTTPDate? {
        position = 0
        guard takeAny(of: HTTPDate.shortWeekdays) != nil, take(", "),
            let day = number(digits: 2), take(" "),
            let month = month(), take(" "),
            let year = number(digits: 4), take(" "),
            let time = timeOfDay(), take(" GMT"), position == text.count
        else { return nil }
        return moment(year, month, day, time)
    }

    mutating func rfc850(now: HTTPDate) -> HTTPDate? {
        position = 0
        guard takeAny(of: HTTPDate.weekdays) != nil, take(", "),
            let day = number(digits: 2), take("-"),
            let month = month(), take("-"),
            let shortYear = number(digits: 2), take(" "),
            let time = timeOfDay(), take(" GMT"), position == text.count
        else { return nil }
        let (days, seconds) = now.secondsSinceEpoch.quotientAndRemainder(flooringBy: 86_400)
        let today = CivilDay(daysSinceEpoch: days)
        let year = today.year - today.year % 100 + shortYear
        // The candidates, latest first; exactly 50 years ahead, to the second, is not yet "more than" 50 years.
        let limit = (today.year + 50, today.month, today.day, seconds)
        for candidate in [year + 100, year, year - 100] where (candidate, month, day, time) <= limit {
            if let result = moment(candidate, month, day, time) { return result }
        }
        return nil
    }

    mutating func asctime() -> HTTPDate? {
        position = 0
        guard takeAny(of: HTTPDate.shortWeekdays) != nil, take(" "),
            let month = month(), take(" "),
            let day = take(" ") ? number(digits: 1) : number(digits: 2), take(" "),
            let time = timeOfDay(), take(" "),
            let year = number(digits: 4), position == text.count
        else { return nil }
        return moment(year, month, day, time)
    }

    private func moment(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> HTTPDate? {
        guard year >= 1, let day = CivilDay(year: year, month: month, day: day) else { return nil }
        return HTTPDate(nearestTo: day.daysSinceEpoch * 86_400 + time)
    }

    private mutating func timeOfDay() -> Int? {
        guard let hour = number(digits: 2), hour < 24, take(":"),
            let minute = number(digits: 2), minute < 60, take(":"),
            let second = number(digits: 2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private mutating func month() -> Int? {
        takeAny(of: HTTPDate.months).map { $0 + 1 }
    }

    /// Takes one of several literals, and returns its index.
    private mutating func takeAny(of literals: [String]) -> Int? {
        literals.firstIndex { take($0) }
    }

    private mutating func number(digits: Int) -> Int? {
        guard position + digits <= text.count else { return nil }
        var value = 0
        for byte in text[position..<position + digits] {
            guard let digit = byte.decimalDigit else { return nil }
            value = value * 10 + digit
        }
        position += digits
        return value
    }

    private mutating func take(_ literal: String) -> Bool {
        let end = position + literal.utf8.count
        guard end <= text.count else { return false }
        for (byte, expected) in zip(text[position..<end], literal.utf8) {
            guard byte == expected || ignoringCase && byte.lowercased == expected.lowercased else { return false }
        }
        position = end
        return true
    }
}

/// A day of the proleptic Gregorian calendar.
///
/// The arithmetic counts years from 1 March, so that the leap day is the last day of its year, in eras of 400 years.
package struct CivilDay: Sendable, Hashable {
    package let year: Int
    /// The month, from 1.
    package let month: Int
    /// The day of the month, from 1.
    package let day: Int

    /// Makes the day that is this many days after 1970-01-01.
    package init(daysSinceEpoch days: Int) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Makes a day; nil when the calendar has no such day, such as 30 February, or the year is not in 0 to 9999.
    package init?(year: Int, month: Int, day: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        guard CivilDay(daysSinceEpoch: daysSinceEpoch) == self else { return nil }
    }

    /// The number of days since 1970-01-01.
    package var daysSinceEpoch: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int {
    /// Divides by a positive number so that the remainder is never negative.
    func quotientAndRemainder(flooringBy divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// The `Retry-After` field (RFC 9110 §10.2.3): a number of seconds, or a date.
package enum RetryAfter {
    /// Reads the value of the field.
    ///
    /// - Parameters:
    ///   - value: The field value.
    ///   - now: The current time, for dates.
    ///   - longest: The longest delay that is accepted.
    /// - Returns: How long to wait; nil when the value is not valid.
    package static func delay(_ value: String, now: HTTPDate, atMost longest: Duration) -> Duration? {
        let text = value[...].utf8.trimmingSpace()
        guard !text.isEmpty else { return nil }
        if text.isDecimal {
            // A number that overflows is certainly longer than the longest delay.
            return min(Int64(Substring(text)).map { .seconds($0) } ?? longest, longest)
        }
        guard let date = HTTPDate(String(Substring(text)), now: now) else { return nil }
        return min(max(.seconds(date.secondsSinceEpoch - now.secondsSinceEpoch), .zero), longest)
    }
}

extension Duration {
    /// The duration in seconds.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
