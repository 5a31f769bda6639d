/// A moment as HTTP writes it, in whole seconds of UTC (RFC 9110 section 5.6.7).
///
/// Covers the years 1 to 9999 of the Gregorian calendar, extended backwards. `description` is the IMF-fixdate form.
public struct HTTPDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Seconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
    public let secondsSinceEpoch: Int

    private init(unchecked secondsSinceEpoch: Int) {
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// Makes a date, or `nil` outside the years 1 to 9999.
    public init?(secondsSinceEpoch: Int) {
        guard (-62_135_596_800...253_402_300_799).contains(secondsSinceEpoch) else { return nil }
        self.secondsSinceEpoch = secondsSinceEpoch
    }

    /// 1970-01-01 00:00:00 UTC.
    static let epoch = HTTPDate(unchecked: 0)

    /// Orders dates by time.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
        left.secondsSinceEpoch < right.secondsSinceEpoch
    }

    /// The date in the one form that may be sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var description: String {
        let (days, seconds) = secondsSinceEpoch.quotientAndRemainder(flooringBy: 86_400)
        let day = CivilDay(daysSinceEpoch: days)
        let weekday = Self.weekdays[(days + 4).quotientAndRemainder(flooringBy: 7).remainder]
        let date = "\(weekday.prefix(3)), \(padded(day.day, 2)) \(Self.months[day.month - 1]) \(padded(day.year, 4))"
        let time = "\(padded(seconds / 3600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
        return "\(date) \(time) GMT"
    }

    static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

/// A day of the Gregorian calendar, extended backwards.
///
/// The arithmetic counts from 1 March, so that the leap day is the last of its year, in eras of 400 years.
struct CivilDay: Equatable {
    var year: Int
    var month: Int
    var day: Int

    init(daysSinceEpoch days: Int) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Makes a day, or `nil` when the calendar has none such, as 30 February.
    init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        self.year = year
        self.month = month
        self.day = day
        guard CivilDay(daysSinceEpoch: daysSinceEpoch) == self else { return nil }
    }

    var daysSinceEpoch: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

extension Int {
    /// Divides so that the remainder is never negative.
    fileprivate func quotientAndRemainder(flooringBy divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
