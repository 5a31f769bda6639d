/// HTML text that escapes all interpolated values, except for other `Markup`, so that a URL of a hostile site cannot
/// inject HTML into the report.
struct Markup: ExpressibleByStringInterpolation, Sendable {
    var html: String

    init(stringLiteral value: String) { html = value }
    init(stringInterpolation: StringInterpolation) { html = stringInterpolation.html }
    init(html: String) { self.html = html }

    struct StringInterpolation: StringInterpolationProtocol {
        var html = ""

        init(literalCapacity: Int, interpolationCount: Int) { html.reserveCapacity(literalCapacity) }
        mutating func appendLiteral(_ literal: String) { html += literal }
        mutating func appendInterpolation(_ markup: Markup) { html += markup.html }
        mutating func appendInterpolation(_ number: Int) { html += String(number) }

        mutating func appendInterpolation(_ text: String) {
            for character in text.unicodeScalars {
                switch character {
                case "&": html += "&amp;"
                case "<": html += "&lt;"
                case ">": html += "&gt;"
                case "\"": html += "&quot;"
                case "'": html += "&#39;"
                default: html.unicodeScalars.append(character)
                }
            }
        }
    }
}

extension Sequence {
    func joined(_ transform: (Element) -> Markup) -> Markup {
        Markup(html: map { transform($0).html }.joined(separator: "\n"))
    }
}
