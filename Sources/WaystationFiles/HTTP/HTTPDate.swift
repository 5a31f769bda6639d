import WaystationFields

/// A point in time as HTTP writes it, in whole seconds of UTC (RFC 9110 section 5.6.7).
///
/// Covers the years 1 to 9999 of the proleptic Gregorian calendar. `description` is the IMF-fixdate form.
public struct HTTPDate: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// 1970-01-01 00:00:00 UTC.
    static let epoch = HTTPDate(.epoch)

    /// The date type that all targets of this package use to read and write dates.
    private let date: WaystationFields.HTTPDate

    private init(_ date: WaystationFields.HTTPDate) {
        self.date = date
    }

    /// Makes a date; `nil` outside the years 1 to 9999.
    public init?(secondsSinceEpoch: Int) {
        guard let date = WaystationFields.HTTPDate(secondsSinceEpoch: secondsSinceEpoch) else { return nil }
        self.init(date)
    }

    /// Parses any of the three forms of HTTP-date.
    ///
    /// The forms are IMF-fixdate `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete ones that a recipient must still
    /// accept: RFC 850 `Sunday, 06-Nov-94 08:49:37 GMT` and asctime `Sun Nov  6 08:49:37 1994`. They are
    /// case-sensitive, as in the grammar. The name of the day must be valid, but need not be the right one. A leap
    /// second is read as the following second, or as the preceding one at the end of the year 9999. `nil` when `text`
    /// is not an HTTP-date, or names a day that the calendar does not have.
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: The current time, for two-digit years: a date that seems more than 50 years ahead is taken as one in
    ///     the past.
    public init?(_ text: String, now: HTTPDate) {
        guard let date = WaystationFields.HTTPDate(text, now: now.date) else { return nil }
        self.init(date)
    }

    /// Seconds since 1970-01-01 00:00:00 UTC, without leap seconds.
    public var secondsSinceEpoch: Int { date.secondsSinceEpoch }

    /// Orders dates by time.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.date < right.date }

    /// The date in the only form that may be sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var description: String { date.fieldValue }
}
