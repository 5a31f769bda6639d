/// The values that are written without quotes and brackets: numbers, booleans and dates.
enum TOMLScalar {
    /// Reads a word.
    ///
    /// - Returns: The value; nil if the word has none of the forms of TOML 1.0.
    static func value(of word: String) -> TOMLValue.Kind? {
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "inf", "+inf": return .float(.infinity)
        case "-inf": return .float(-.infinity)
        case "nan", "+nan", "-nan": return .float(.nan)
        default: break
        }
        if let integer = integer(word) { return .integer(integer) }
        if word.wholeMatch(of: #/[+-]?(0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?/#) != nil,
            word.contains(where: { ".eE".contains($0) }), let float = Double(digits(word))
        {
            return .float(float)
        }
        return isDate(word) ? .date(word) : nil
    }

    private static func integer(_ word: String) -> Int? {
        if word.wholeMatch(of: #/[+-]?(0|[1-9](_?[0-9])*)/#) != nil { return Int(digits(word)) }
        let bases: [(prefix: String, radix: Int)] = [("0x", 16), ("0o", 8), ("0b", 2)]
        guard let base = bases.first(where: { word.hasPrefix($0.prefix) }) else { return nil }
        let rest = word.dropFirst(2)
        guard rest.wholeMatch(of: #/[0-9A-Fa-f](_?[0-9A-Fa-f])*/#) != nil else { return nil }
        return Int(digits(String(rest)), radix: base.radix)
    }

    private static func digits(_ word: String) -> String { word.filter { $0 != "_" } }

    private static func isDate(_ word: String) -> Bool {
        if isTime(word[...]) { return true }
        guard let match = word.prefixMatch(of: #/([0-9]{4})-([0-9]{2})-([0-9]{2})/#), let year = Int(match.1),
            let month = Int(match.2), let day = Int(match.3), (1...12).contains(month)
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...days[month - 1]).contains(day) else { return false }
        let rest = word[match.range.upperBound...]
        guard let separator = rest.first else { return true }
        guard "Tt ".contains(separator) else { return false }
        let time = rest.dropFirst()
        guard let zone = time.firstMatch(of: #/([Zz]|[+-]([0-9]{2}):([0-9]{2}))$/#) else { return isTime(time) }
        if let hours = zone.2.flatMap({ Int($0) }), let minutes = zone.3.flatMap({ Int($0) }) {
            guard hours < 24, minutes < 60 else { return false }
        }
        return isTime(time[..<zone.range.lowerBound])
    }

    private static func isTime(_ word: Substring) -> Bool {
        guard let match = word.wholeMatch(of: #/([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?/#), let hour = Int(match.1),
            let minute = Int(match.2), let second = Int(match.3)
        else { return false }
        return hour < 24 && minute < 60 && second < 60
    }
}
