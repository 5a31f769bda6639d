/// Texts from outside in the form in which messages show them: without control characters, which could overwrite a
/// message.
package enum Shown {
    private static let limit = 80

    /// A text with its control characters escaped, cut if it is long.
    package static func escaped(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let shown = scalars.prefix(limit).map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
        return scalars.count > limit ? shown + "…" : shown
    }

    /// A text in which each control character is replaced by one other, so that a mark below it keeps its place.
    package static func sameWidth(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = ""
        for scalar in scalars {
            text.unicodeScalars.append(scalar == "\t" ? " " : isControl(scalar) ? "\u{FFFD}" : scalar)
        }
        return text
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
