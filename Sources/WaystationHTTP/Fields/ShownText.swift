/// Text of others in the form in which errors, events and logs show it.
///
/// A catalogue, a server's error or a name in an archive may hold megabytes, line breaks that forge a line of a log, or
/// escape sequences that control a terminal. Every message with a text from outside shows it by one of these functions.
extension StringProtocol {
    /// The text with its hidden characters escaped, cut if it is long; the mark of a cut is `…`.
    ///
    /// A shown text has no hidden characters, so a message that holds it can itself be shown as a whole.
    ///
    /// - Parameter limit: The number of characters (Unicode scalars) before the cut.
    /// - Returns: The text to show.
    /// - Complexity: O(`limit`), however long the text is.
    package func shown(upTo limit: Int = 80) -> String {
        // Each event of a store shows a URL, most of which are short and hide nothing.
        let isPlain = utf8.count <= limit && utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        if isPlain { return String(self) }
        var shown = ""
        var rest = unicodeScalars[...]
        for _ in 0..<limit {
            guard let scalar = rest.popFirst() else { return shown }
            if scalar.isHidden { shown += scalar.shownEscape } else { shown.unicodeScalars.append(scalar) }
        }
        return rest.isEmpty ? shown : shown + "…"
    }

    /// The shown text between quotation marks, so that a reader sees where it ends.
    ///
    /// - Parameter limit: The number of characters (Unicode scalars) before the cut.
    /// - Returns: The text to show.
    package func quoted(upTo limit: Int = 80) -> String {
        "\"" + String(shown(upTo: limit).flatMap { $0 == "\"" ? ["\\", $0] : [$0] }) + "\""
    }
}

extension Unicode.Scalar {
    /// Whether the character is not seen as itself: a control or format character, a line end, or one without a meaning
    /// of its own.
    package var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: true
        default: false
        }
    }

    /// The escape of a hidden character, as in the source of Swift; without the zeros that Swift's own has from U+10000 on.
    fileprivate var shownEscape: String {
        value < 0x80 ? escaped(asASCII: true) : "\\u{" + String(value, radix: 16, uppercase: true) + "}"
    }
}
