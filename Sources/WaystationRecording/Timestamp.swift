package import Foundation
import WaystationHTTP

/// Points in time as HAR and WARC write them: ISO 8601 in the profile of RFC 3339, and also shorter and longer forms.
package enum Timestamp {
    /// The time with milliseconds, in UTC.
    static func text(_ date: Date) -> String {
        // The style truncates below a millisecond, and a `Double` is rarely exact, so a fraction is added.
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded() + 0.25
        return Date(timeIntervalSince1970: milliseconds / 1_000).formatted(style)
    }

    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The time to the second, in UTC.
    static func seconds(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle()) }

    /// The time with microseconds, in UTC; a `WARC-Date` may have them since WARC 1.1.
    static func microseconds(_ date: Date) -> String {
        let (second, micros) = date.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let whole = micros < 0 ? second - 1 : second
        let text = seconds(Date(timeIntervalSince1970: Double(whole)))
        // A million more gives the fraction its leading zeros.
        let fraction = "\((micros < 0 ? micros + 1_000_000 : micros) + 1_000_000)".dropFirst()
        return "\(text.dropLast()).\(fraction)Z"
    }

    /// The time as 14 digits from the year to the second, in UTC, as indexes of captures have it.
    static func digits(_ date: Date) -> String {
        String(microseconds(date).filter { $0.isASCII && $0.isNumber }.prefix(14))
    }

    /// Reads `2026-03-01T12:00:00.123+02:00`, with any number of digits after the point, or none; without an offset the
    /// time is UTC.
    ///
    /// WARC 1.1 also has `2026`, `2026-03`, `2026-03-01` and `2026-03-01T12:00Z`.
    package static func date(_ text: String) -> Date? {
        var rest = Substring(text)
        guard let year = number(&rest, digits: 4) else { return nil }
        var month = 1
        var day = 1
        var seconds = 0.0
        if skip("-", &rest) {
            guard let value = number(&rest, digits: 2), 1...12 ~= value else { return nil }
            month = value
            if skip("-", &rest) {
                guard let value = number(&rest, digits: 2) else { return nil }
                day = value
                if skip("T", &rest) || skip("t", &rest) || skip(" ", &rest) {
                    guard let value = timeOfDay(&rest) else { return nil }
                    seconds = value
                }
            }
        }
        guard rest.isEmpty, let civil = CivilDay(year: year, month: month, day: day) else { return nil }
        return Date(timeIntervalSince1970: Double(civil.daysSinceEpoch) * 86_400 + seconds)
    }

    /// Reads the seconds since midnight UTC.
    private static func timeOfDay(_ rest: inout Substring) -> Double? {
        guard let hour = number(&rest, digits: 2), hour < 24, skip(":", &rest), let minute = number(&rest, digits: 2),
            minute < 60
        else { return nil }
        var seconds = Double(hour * 3_600 + minute * 60)
        if skip(":", &rest) {
            // A second of 60 is a leap second.
            guard let second = number(&rest, digits: 2), second <= 60 else { return nil }
            seconds += Double(second)
            if skip(".", &rest) {
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                guard !digits.isEmpty, digits.count <= 12, let fraction = Double("0." + digits) else { return nil }
                seconds += fraction
                rest = rest.dropFirst(digits.count)
            }
        }
        if rest.isEmpty || skip("Z", &rest) || skip("z", &rest) { return seconds }
        let isEast = rest.first == "+"
        guard skip("+", &rest) || skip("-", &rest), let hours = number(&rest, digits: 2), hours < 24 else { return nil }
        _ = skip(":", &rest)
        guard let minutes = rest.isEmpty ? 0 : number(&rest, digits: 2), minutes < 60 else { return nil }
        let offset = Double(hours * 3_600 + minutes * 60)
        return isEast ? seconds - offset : seconds + offset
    }

    private static func skip(_ character: Character, _ rest: inout Substring) -> Bool {
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private static func number(_ rest: inout Substring, digits: Int) -> Int? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        rest = rest.dropFirst(digits)
        return Int(text)
    }
}
