package import WaystationFields

extension HTTPDate {
    /// Reads a date as a cache does, case-insensitively (RFC 9111 §4.2).
    ///
    /// - Parameters:
    ///   - text: The field value.
    ///   - now: The current time, for two-digit years.
    package init?(cached text: String, now: HTTPDate) {
        self.init(text, now: now, ignoringCase: true)
    }

    /// Seconds since 1970, for calculations.
    var moment: Double { Double(secondsSinceEpoch) }
}
