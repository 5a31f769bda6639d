package import WaystationStorage

extension ByteCount {
    /// Reads a size such as `200MB`, `64KiB` or `1000`.
    package init?(written text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits) else { return nil }
        switch text.dropFirst(digits.count).lowercased() {
        case "", "b": self = .bytes(number)
        case "kb": self = .kilobytes(number)
        case "mb": self = .megabytes(number)
        case "gb": self = .gigabytes(number)
        case "kib": self = .kibibytes(number)
        case "mib": self = .mebibytes(number)
        case "gib": self = .gibibytes(number)
        default: return nil
        }
    }
}

extension Duration {
    /// Reads a time such as `90s`, `15m`, `12h` or `30d`.
    package init?(written text: String) {
        guard let unit = text.last, let number = Int(text.dropLast()), number >= 0 else { return nil }
        let lengths: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let length = lengths[unit] else { return nil }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: length)
        // Beyond this a date plus the time is no longer a valid date.
        guard !overflow, seconds <= 100_000 * 86_400 else { return nil }
        self = .seconds(seconds)
    }
}
