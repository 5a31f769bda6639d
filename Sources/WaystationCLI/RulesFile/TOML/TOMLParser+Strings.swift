import WaystationHTTP

extension TOMLParser {
    /// Reads a text in quotes, of one of the four forms of TOML.
    mutating func parseString() throws(Fault) -> TOMLString {
        if starts(with: "\"\"\"") { return try parseLongString("\"", hasEscapes: true) }
        if starts(with: "'''") { return try parseLongString("'", hasEscapes: false) }
        let start = position
        let quote: Unicode.Scalar = next == "'" ? "'" : "\""
        position += 1
        var string = TOMLString()
        while let scalar = next, scalar != "\n", !starts(with: "\r\n") {
            if scalar == quote {
                position += 1
                return string
            }
            try parseCharacter(scalar, hasEscapes: quote == "\"", into: &string)
        }
        throw Fault(start..<start + 1, "the text has no closing quote on its line")
    }

    private mutating func parseLongString(
        _ quote: Unicode.Scalar,
        hasEscapes: Bool
    ) throws(Fault) -> TOMLString {
        let start = position
        let quotes = String(repeating: String(quote), count: 3)
        position += 3
        _ = skipLineEnd()
        var string = TOMLString()
        while let scalar = next {
            if starts(with: quotes) {
                // Up to two quotes may stand directly before the closing ones.
                for _ in 3..<closingCount(quote) {
                    string.append(quote, at: position)
                    position += 1
                }
                position += 3
                return string
            }
            if hasEscapes, scalar == "\\", skipContinuation() { continue }
            if scalar == "\n" || starts(with: "\r\n") {
                string.append("\n", at: position)
                _ = skipLineEnd()
            } else {
                try parseCharacter(scalar, hasEscapes: hasEscapes, into: &string)
            }
        }
        throw Fault(start..<start + 3, "the text has no closing `\(quotes)`")
    }

    /// The number of quotes from here, at most five: a sixth one belongs to what follows the text.
    private func closingCount(_ quote: Unicode.Scalar) -> Int {
        scalars[position...].prefix(5).prefix { $0 == quote }.count
    }

    /// Skips a `\` at the end of a line, and the blanks and lines up to the next text.
    private mutating func skipContinuation() -> Bool {
        var index = position + 1
        while index < scalars.count, scalars[index].isBlank { index += 1 }
        guard index < scalars.count, scalars[index] == "\n" || scalars[index...].starts(with: "\r\n".unicodeScalars)
        else { return false }
        while index < scalars.count, scalars[index].isBlank || scalars[index] == "\n" || scalars[index] == "\r" {
            index += 1
        }
        position = index
        return true
    }

    private mutating func parseCharacter(
        _ scalar: Unicode.Scalar,
        hasEscapes: Bool,
        into string: inout TOMLString
    ) throws(Fault) {
        if scalar.isForbiddenControl {
            throw fault("a text must not have the control character \(found): write it as an escape")
        }
        guard hasEscapes, scalar == "\\" else {
            string.append(scalar, at: position)
            position += 1
            return
        }
        let start = position
        position += 1
        let escaped = try parseEscape()
        string.append(escaped, at: start)
    }

    private mutating func parseEscape() throws(Fault) -> Unicode.Scalar {
        let escape = next
        let start = position - 1
        position += 1
        switch escape {
        case "b": return "\u{8}"
        case "t": return "\t"
        case "n": return "\n"
        case "f": return "\u{C}"
        case "r": return "\r"
        case "\"": return "\""
        case "\\": return "\\"
        case "u", "U":
            let count = escape == "u" ? 4 : 8
            let digits = scalars[min(position, scalars.count)...].prefix(count).prefix { $0.properties.isASCIIHexDigit }
            let number = UInt32(String(String.UnicodeScalarView(digits)), radix: 16)
            guard digits.count == count, let scalar = number.flatMap(Unicode.Scalar.init) else {
                let shown = escape == "u" ? "u" : "U"
                throw Fault(
                    start..<min(start + 2, scalars.count),
                    "expected \(count) hexadecimal digits of a character after `\\\(shown)`"
                )
            }
            position += count
            return scalar
        default:
            let shown = escape.map { String($0).shown() } ?? ""
            throw Fault(
                start..<min(start + 2, scalars.count),
                "`\\\(shown)` is not an escape sequence: write `\\\\` for a backslash, or the text in single quotes"
            )
        }
    }
}
