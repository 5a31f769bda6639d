import WaystationFields

/// A moment as HTTP writes it, in whole seconds of UTC (RFC 9110 section 5.6.7).
///
/// Covers the years 1 to 9999 of the Gregorian calendar, extended backwards. `description` is the IMF-fixdate form.
public struct HTTPDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// 1970-01-01 00:00:00 UTC.
    static let epoch = HTTPDate(.epoch)

    /// The date as all targets of this package read and write it.
    private let date: WaystationFields.HTTPDate

    private init(_ date: WaystationFields.HTTPDate) {
        self.date = date
    }

    /// Makes a date, or `nil` outside the years 1 to 9999.
    public init?(secondsSinceEpoch: Int) {
        guard let date = WaystationFields.HTTPDate(secondsSinceEpoch: secondsSinceEpoch) else { return nil }
        self.init(date)
    }

    /// Reads any of the three forms that HTTP-date has.
    ///
    /// IMF-fixdate `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete ones that a recipient must still accept:
    /// RFC 850 `Sunday, 06-Nov-94 08:49:37 GMT` and asctime `Sun Nov  6 08:49:37 1994`. Case-sensitive, as the grammar
    /// is. The name of the day must be one, but need not be the right one. A leap second counts as the next one; of the
    /// year 9999, as the one before. `nil` when `text` is no HTTP-date, or names a day that the calendar does not have.
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: The present, for two-digit years: one that seems more than 50 years ahead is the past one.
    public init?(_ text: String, now: HTTPDate) {
        guard let date = WaystationFields.HTTPDate(text, now: now.date) else { return nil }
        self.init(date)
    }

    /// Seconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
    public var secondsSinceEpoch: Int { date.secondsSinceEpoch }

    /// Orders dates by time.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.date < right.date }

    /// The date in the one form that may be sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var description: String { date.fieldValue }
}
