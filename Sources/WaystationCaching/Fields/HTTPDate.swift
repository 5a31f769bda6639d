/// HTTP-date as a number of whole seconds since 1970-01-01 00:00:00 UTC (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Reads any of the three forms, or nil when the text is none of them or names a day that no calendar has.
    ///
    /// Names are matched without regard to case, as RFC 9111 §4.2 asks of caches; a zone other than GMT makes the date
    /// invalid (same section). No local time zone plays a part.
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - year: The present year, for two-digit years: one that seems more than 50 years ahead is the past one.
    /// - Returns: The seconds, or nil.
    package static func seconds(_ text: String, presentYear year: Int) -> Int? {
        var reader = DateReader(text)
        return reader.imfFixdate() ?? reader.rfc850(presentYear: year) ?? reader.asctime()
    }

    /// Writes IMF-fixdate, the one form that may be sent; a moment outside the years 1 to 9999 becomes the nearest.
    package static func text(_ seconds: Int) -> String {
        let seconds = min(max(seconds, -62_135_596_800), 253_402_300_799)
        let (days, time) = seconds.flooringQuotientAndRemainder(86_400)
        let day = CivilDay(daysSinceEpoch: days)
        let weekday = weekdays[(days + 4).flooringQuotientAndRemainder(7).remainder].prefix(3)
        let date = "\(weekday), \(padded(day.day, 2)) \(months[day.month - 1]) \(padded(day.year, 4))"
        return "\(date) \(padded(time / 3600, 2)):\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2)) GMT"
    }

    /// The year of a moment; of the nearest that has four digits when it has none.
    package static func year(ofSeconds seconds: Double) -> Int {
        guard seconds > -62_135_596_800, seconds < 253_402_300_799 else { return seconds > 0 ? 9999 : 1 }
        return CivilDay(daysSinceEpoch: Int((seconds / 86_400).rounded(.down))).year
    }

    fileprivate static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    fileprivate static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// Reads the fixed layouts; each form begins anew.
private struct DateReader {
    private let text: [UInt8]
    private var position = 0

    init(_ text: String) {
        self.text = Array(text.utf8)
    }

    mutating func imfFixdate() -> Int? {
        position = 0
        guard takeWeekday(isShort: true), take(", "), let day = number(digits: 2), take(" "),
            let month = month(), take(" "), let year = number(digits: 4), take(" "),
            let time = timeOfDay(), take(" GMT"), position == text.count
        else { return nil }
        return moment(year, month, day, time)
    }

    mutating func rfc850(presentYear: Int) -> Int? {
        position = 0
        guard takeWeekday(isShort: false), take(", "), let day = number(digits: 2), take("-"),
            let month = month(), take("-"), let shortYear = number(digits: 2), take(" "),
            let time = timeOfDay(), take(" GMT"), position == text.count
        else { return nil }
        let year = presentYear - presentYear % 100 + shortYear
        let nearest = [year + 100, year, year - 100].first { $0 <= presentYear + 50 } ?? year
        return moment(nearest, month, day, time)
    }

    mutating func asctime() -> Int? {
        position = 0
        guard takeWeekday(isShort: true), take(" "), let month = month(), take(" "),
            let day = take(" ") ? number(digits: 1) : number(digits: 2), take(" "),
            let time = timeOfDay(), take(" "), let year = number(digits: 4), position == text.count
        else { return nil }
        return moment(year, month, day, time)
    }

    private func moment(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Int? {
        CivilDay(year: year, month: month, day: day).map { $0.daysSinceEpoch * 86_400 + time }
    }

    private mutating func timeOfDay() -> Int? {
        guard let hour = number(digits: 2), hour < 24, take(":"), let minute = number(digits: 2), minute < 60,
            take(":"), let second = number(digits: 2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private mutating func month() -> Int? {
        guard position + 3 <= text.count else { return nil }
        let name = text[position..<position + 3].reduce(0) { $0 << 8 | UInt32($1.lowercased) }
        guard let index = Self.months.firstIndex(of: name) else { return nil }
        position += 3
        return index + 1
    }

    /// The names of the months in small letters, three bytes each as one number.
    private static let months = HTTPDate.months.map { name in
        name.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1.lowercased) }
    }

    private mutating func takeWeekday(isShort: Bool) -> Bool {
        HTTPDate.weekdays.contains { take(isShort ? String($0.prefix(3)) : $0) }
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

    /// Takes a literal, without regard to the case of letters.
    private mutating func take(_ literal: String) -> Bool {
        let end = position + literal.utf8.count
        guard end <= text.count else { return false }
        guard zip(text[position..<end], literal.utf8).allSatisfy({ $0.lowercased == $1.lowercased }) else {
            return false
        }
        position = end
        return true
    }
}

/// A day of the Gregorian calendar, extended backwards; years are counted from 1 March, in eras of 400.
private struct CivilDay: Equatable {
    var year: Int
    var month: Int
    var day: Int

    init(daysSinceEpoch days: Int) {
        let (era, dayOfEra) = (days + 719_468).flooringQuotientAndRemainder(146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        guard CivilDay(daysSinceEpoch: daysSinceEpoch) == self else { return nil }
    }

    var daysSinceEpoch: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooringQuotientAndRemainder(400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension Int {
    /// Divides by a positive number so that the remainder is never negative.
    fileprivate func flooringQuotientAndRemainder(_ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
