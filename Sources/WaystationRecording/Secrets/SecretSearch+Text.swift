import WaystationFields

extension SecretSearch {
    /// The secrets of a text that is a mixture: `name=value`, `Name: value` and `"name": "value"`.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - isCode: Whether the text is a page or a program, in which such pairs may be something else. Only items of URLs,
    ///     and pairs in quotation marks whose value looks random, are secrets there.
    /// - Returns: The secrets.
    mutating func plain(_ text: [UInt8], isCode: Bool) -> [SecretSpan] {
        var spans: [SecretSpan] = []
        var place = 0
        while place < text.count {
            guard text[place].isInName else {
                place += 1
                continue
            }
            let end = text[place...].firstIndex { !$0.isInName } ?? text.count
            defer { place = max(place, end) }
            guard let pair = Self.pair(text, place..<end) else { continue }
            let name = Self.decodedName(text, place..<end)
            guard hides(name) else { continue }
            let isItem = pair.isItem && place > 0 && "?&;".utf8.contains(text[place - 1])
            let ends =
                if pair.isItem { "& \t\r\n\"'<>`|" } else if Self.isCredentials(name) {
                    "\r\n\"'<"
                } else if Self.beginsLine(
                    text,
                    place
                ) { "\r\n" } else { " \t\r\n\"'<>`|" }
            let value = Self.value(text, pair, endingAt: ends)
            // The bracket at the end of a placeholder does not count as a part of a value.
            guard !value.isEmpty, !text[value.lowerBound...].starts(with: SecretNames.placeholder.utf8) else {
                continue
            }
            let decoded = Self.decodedValue(text, value, pair)
            guard isSecret(decoded, name: name) else { continue }
            let isAmbiguous = SecretNames.isAmbiguous(String(decoding: name, as: UTF8.self))
            let needsRandom = (isCode && !isItem) || (isAmbiguous && !isItem && !pair.isQuoted && place > 0)
            if isCode, !isItem, !pair.isQuoted { continue }
            if needsRandom, !SecretValue.looksRandom(decoded) { continue }
            if !pair.isItem, !pair.isQuoted, Self.isProse(text, value, name) { continue }
            let isNumber = pair.isQuoted && value.lowerBound == pair.value
            let replacement =
                pair.isItem && !pair.isQuoted && isItem
                ? SecretNames.encodedPlaceholder : SecretNames.placeholder
            spans.append(Self.span(value, name, decoded, isNumber ? "\"\(replacement)\"" : replacement))
            place = value.upperBound
        }
        // User names and passwords in URLs.
        if names.hidesUserInfo { spans += userInformation(text) }
        return spans
    }

    /// A name and the place at which its value begins.
    private struct Pair {
        /// The index of the value's first byte, which may be a quotation mark.
        let value: Int
        /// Whether `=` stands between them.
        let isItem: Bool
        /// Whether the name is in quotation marks.
        let isQuoted: Bool
    }

    private static func pair(_ text: [UInt8], _ name: Range<Int>) -> Pair? {
        var place = name.upperBound
        let isQuoted =
            name.lowerBound > 0 && "\"'".utf8.contains(text[name.lowerBound - 1]) && place < text.count
            && "\\\"'".utf8.contains(text[place])
        // JSON within a string has `\"`.
        while isQuoted, place < text.count, "\\\"'".utf8.contains(text[place]) { place += 1 }
        while place < text.count, text[place].isSpace { place += 1 }
        guard place < text.count, "=:".utf8.contains(text[place]) else { return nil }
        let isItem = text[place] == UInt8(ascii: "=")
        place += 1
        while place < text.count, text[place].isSpace { place += 1 }
        return place < text.count ? Pair(value: place, isItem: isItem, isQuoted: isQuoted) : nil
    }

    /// The range of a pair's value, without quotation marks.
    private static func value(_ text: [UInt8], _ pair: Pair, endingAt ends: String) -> Range<Int> {
        var start = pair.value
        while start < text.count, text[start] == UInt8(ascii: "\\") { start += 1 }
        let escapes = start - pair.value
        if start < text.count, "\"'".utf8.contains(text[start]) {
            let quote = text[start]
            var end = start + 1
            while end < text.count, text[end] != UInt8(ascii: "\n") {
                if text[end] == quote {
                    // A quotation mark with more escapes than the first one belongs to the value.
                    let before = text[..<end].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
                    if before <= escapes {
                        return start + 1..<max(start + 1, end - before)
                    }
                }
                end += 1
            }
            return start + 1..<end
        }
        let first = text[pair.value]
        if pair.isQuoted, !pair.isItem {
            guard first.isASCIIDigit || first == UInt8(ascii: "-") else { return pair.value..<pair.value }
            return pair
                .value..<(text[pair.value...].firstIndex { !$0.isASCIIDigit && $0 != UInt8(ascii: "-") } ?? text.count)
        }
        var end = text[pair.value...].firstIndex { ends.utf8.contains($0) } ?? text.count
        while end > pair.value, text[end - 1].isSpace || ",;)]}".utf8.contains(text[end - 1]) { end -= 1 }
        return pair.value..<end
    }

    /// Whether a value is the rest of a sentence, as in “Password: at least eight letters”.
    private static func isProse(_ text: [UInt8], _ value: Range<Int>, _ name: [UInt8]) -> Bool {
        let words = text[value].split(separator: UInt8(ascii: " "))
        guard words.count > 1 else { return words.first?.allSatisfy { !$0.isASCIILetter && !$0.isASCIIDigit } ?? true }
        return !words.contains { SecretValue.looksRandom(Array($0)) } && !isCredentials(name)
    }

    /// Whether the values with a name have several words, such as `Bearer` and a token.
    private static func isCredentials(_ name: [UInt8]) -> Bool {
        let name = String(decoding: name, as: UTF8.self).lowercased()
        return name.hasSuffix("authorization") || name.hasSuffix("cookie")
    }

    /// Whether a name begins a line, also one that is quoted or is the item of a list.
    private static func beginsLine(_ text: [UInt8], _ place: Int) -> Bool {
        let before = text[..<place].last { !$0.isSpace && !"<>*-".utf8.contains($0) }
        return before == nil || before == UInt8(ascii: "\n") || before == UInt8(ascii: "\r")
    }

    private static func decodedName(_ text: [UInt8], _ range: Range<Int>) -> [UInt8] {
        let name = SecretNames.percentDecoded(text, range, isForm: true).bytes
        return Array(name.drop { "-$?".utf8.contains($0) })
    }

    private static func decodedValue(_ text: [UInt8], _ range: Range<Int>, _ pair: Pair) -> [UInt8] {
        pair.isItem
            ? SecretNames.percentDecoded(text, range, isForm: true).bytes
            : SecretSearch.unescaped(text, range).bytes
    }

    private func userInformation(_ text: [UInt8]) -> [SecretSpan] {
        var spans: [SecretSpan] = []
        var place = 0
        while let mark = text.firstRange(of: Array("://".utf8), from: place) {
            let end = text[(mark + 3)...].firstIndex { $0 <= 0x20 || "/?#\"'<>`\\".utf8.contains($0) } ?? text.count
            let authority = Array("//".utf8) + text[mark + 3..<end]
            spans += names.spans(inURL: authority).map { $0.moved(by: mark + 1) }
            place = end
        }
        return spans
    }
}

extension UInt8 {
    /// Whether the byte may be a part of the name of an item in a text, such as `user[password]` or `user%5Bpassword%5D`.
    fileprivate var isInName: Bool { Self.inName[Int(self)] }

    private static let inName = (0...255).map { (byte: UInt8) in byte.isInWord || ".[]%".utf8.contains(byte) }
}
