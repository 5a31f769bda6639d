import ArgumentParser

/// A number of bytes: `500MB`, `2GiB`, `1048576`.
struct ByteLimit: ExpressibleByArgument, Equatable {
    let bytes: Int

    init?(argument: String) {
        let units = [
            "": 1, "b": 1, "k": 1000, "kb": 1000, "m": 1_000_000, "mb": 1_000_000, "g": 1_000_000_000,
            "gb": 1_000_000_000, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
        ]
        guard let (number, unit) = split(argument), let factor = units[unit] else { return nil }
        let bytes = number * Double(factor)
        guard bytes >= 1, bytes < Double(Int.max) else { return nil }
        self.bytes = Int(bytes)
    }
}

/// A time: `90s`, `10m`, `2h`; seconds without a unit.
struct TimeLimit: ExpressibleByArgument, Equatable {
    let seconds: Double

    init?(argument: String) {
        let units = ["": 1.0, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400]
        guard let (number, unit) = split(argument), let factor = units[unit], number > 0 else { return nil }
        seconds = number * factor
    }
}

private func split(_ argument: String) -> (number: Double, unit: String)? {
    let digits = argument.prefix { $0.isNumber || $0 == "." }
    guard let number = Double(digits) else { return nil }
    let unit = argument.dropFirst(digits.count).trimmingPrefix { $0 == " " }
    return (number, unit.lowercased())
}
