import Foundation

/// Numbers in readable form.
enum Words {
    /// A size: `1.4 MB`.
    static func bytes(_ count: Int) -> String {
        var value = Double(count)
        for unit in ["B", "kB", "MB", "GB", "TB"] {
            if value < 1000 || unit == "TB" {
                return unit == "B" ? "\(count) B" : "\(decimal(value, value < 10 ? 1 : 0)) \(unit)"
            }
            value /= 1000
        }
        return "\(count) B"
    }

    /// A time: `12 ms`, `3.4 s`, `2 min 5 s`.
    static func seconds(_ seconds: TimeInterval) -> String {
        if seconds < 0.0095 { return "\(decimal(seconds * 1000, 1)) ms" }
        if seconds < 0.9995 { return "\(decimal(seconds * 1000, 0)) ms" }
        if seconds < 60 { return "\(decimal(seconds, 1)) s" }
        let whole = Int(seconds.rounded())
        return whole < 3600 ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    /// A number with separated thousands: `12,345`.
    static func count(_ number: Int) -> String {
        var digits = String(abs(number))
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }

    /// A number with a noun: `1 page`, `2 pages`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    static func decimal(_ value: Double, _ places: Int) -> String {
        String(format: "%.\(places)f", value)
    }

    /// Shortens a text in the middle, where URLs differ least.
    static func shortened(_ text: String, to length: Int) -> String {
        guard text.count > length, length > 3 else {
            return text.count > length ? String(text.prefix(max(0, length))) : text
        }
        let tail = (length - 1) / 2
        return text.prefix(length - 1 - tail) + "…" + text.suffix(tail)
    }
}
