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
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
