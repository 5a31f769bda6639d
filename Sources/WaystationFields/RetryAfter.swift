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
        if text.allSatisfy(\.isASCIIDigit) {
            // A number that overflows is certainly longer than the longest delay.
            return min(Int64(Substring(text)).map { .seconds($0) } ?? longest, longest)
        }
        guard let date = HTTPDate(String(Substring(text)), now: now) else { return nil }
        return min(max(.seconds(date.secondsSinceEpoch - now.secondsSinceEpoch), .zero), longest)
    }
}
