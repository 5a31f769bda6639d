extension HTTPDate {
    /// Reads any of the three forms that HTTP-date has.
    ///
    /// IMF-fixdate `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete ones that a recipient must still accept:
    /// RFC 850 `Sunday, 06-Nov-94 08:49:37 GMT` and asctime `Sun Nov  6 08:49:37 1994`. Case-sensitive, as the grammar
    /// is. The name of the day must be one, but need not be the right one. A leap second counts as the next one.
    /// `nil` when `text` is no HTTP-date, or names a day that the calendar does not have.
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: The present, for two-digit years: one that seems more than 50 years ahead is the past one.
    public init?(_ text: String, now: HTTPDate) {
        var reader = DateReader(text)
        guard let moment = reader.imfFixdate() ?? reader.rfc850(now: now) ?? reader.asctime() else { return nil }
        self = moment
    }
}

/// Reads the fixed layouts; each form begins anew.
private struct DateReader {
    private let text: [UInt8]
    private var position = 0

    init(_ text: String) {
        self.text = Array(text.utf8)
    }

    mutating func imfFixdate() -> HTTPDate? {
        position = 0
        guard takeWeekday(isShort: true), take(", "),
            let day = number(digits: 2), take(" "),
            let month = month(), take(" "),
            let year = number(digits: 4), take(" "),
            let time = timeOfDay(), take(" GMT"), position == text.count
        else { return nil }
        return moment(year, month, day, time)
    }

    mutating func rfc850(now: HTTPDate) -> HTTPDate? {
        position = 0
        guard takeWeekday(isShort: false), take(", "),
            let day = number(digits: 2), take("-"),
            let month = month(), take("-"),
            let shortYear = number(digits: 2), take(" "),
            let time = timeOfDay(), take(" GMT"), position == text.count
        else { return nil }
        let today = CivilDay(daysSinceEpoch: now.secondsSinceEpoch / 86_400)
        let year = today.year - today.year % 100 + shortYear
        // The nearest candidates in time, latest first; 50 years ahead to the second is not yet "more than" that.
        for candidate in [year + 100, year, year - 100] {
            guard let result = moment(candidate, month, day, time) else { continue }
            let limit = (today.year + 50, today.month, today.day, now.secondsSinceEpoch % 86_400)
            if (candidate, month, day, time) <= limit { return result }
        }
        return nil
    }

    mutating func asctime() -> HTTPDate? {
        position = 0
        guard takeWeekday(isShort: true), take(" "),
            let month = month(), take(" "),
            let day = take(" ") ? number(digits: 1) : number(digits: 2), take(" "),
            let time = timeOfDay(), take(" "),
            let year = number(digits: 4), position == text.count
        else { return nil }
        return moment(year, month, day, time)
    }

    private func moment(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> HTTPDate? {
        guard let day = CivilDay(year: year, month: month, day: day) else { return nil }
        return HTTPDate(secondsSinceEpoch: day.daysSinceEpoch * 86_400 + time)
    }

    private mutating func timeOfDay() -> Int? {
        guard let hour = number(digits: 2), hour < 24, take(":"),
            let minute = number(digits: 2), minute < 60, take(":"),
            let second = number(digits: 2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private mutating func month() -> Int? {
        guard let index = HTTPDate.months.firstIndex(where: { take($0) }) else { return nil }
        return index + 1
    }

    private mutating func takeWeekday(isShort: Bool) -> Bool {
        HTTPDate.weekdays.contains { take(isShort ? String($0.prefix(3)) : $0) }
    }

    private mutating func number(digits: Int) -> Int? {
        guard position + digits <= text.count else { return nil }
        var value = 0
        for byte in text[position..<position + digits] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        position += digits
        return value
    }

    private mutating func take(_ literal: String) -> Bool {
        guard text[position...].starts(with: literal.utf8) else { return false }
        position += literal.utf8.count
        return true
    }
}
