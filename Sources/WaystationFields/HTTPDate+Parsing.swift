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
