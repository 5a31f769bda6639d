import WaystationHTTP

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
        guard words.count > 1 else { return words.first?.allSatisfy { !$0.isASCIIAlphanumeric } ?? true }
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

extension SecretSearch {
    /// The secrets of XML and HTML: the texts and attributes of elements with a secret name, and the values beside one.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - isPage: Whether it is HTML, in which `<code>` and `<key>` are no secrets.
    /// - Returns: The secrets.
    mutating func markup(_ text: [UInt8], isPage: Bool) -> [SecretSpan] {
        var spans: [SecretSpan] = []
        // The elements that are open, and the secret that each belongs to.
        var open: [(name: [UInt8], secret: [UInt8]?)] = []
        // The name in the element before, such as `<key>password</key>` of a property list.
        var named: [UInt8]?
        var place = 0
        while place < text.count {
            let secret = open.last.flatMap(\.secret)
            guard text[place] == UInt8(ascii: "<") else {
                let end = text[place...].firstIndex(of: UInt8(ascii: "<")) ?? text.count
                let part = Self.trimmed(text, place..<end)
                let value = Self.unescapedMarkup(text, part)
                if let secret, !part.isEmpty, isMarkupSecret(value.bytes, secret, isPage) {
                    spans.append(Self.span(part, secret, value.bytes, SecretNames.placeholder))
                } else if !part.isEmpty {
                    if let last = open.last, Self.namesOther(last.name) {
                        named = hides(value.bytes) ? value.bytes : nil
                    }
                    if !isPage { spans += value.outer(nested(value.bytes), encode: Self.escapedMarkup) }
                }
                place = end
                continue
            }
            if text[place...].starts(with: "<![CDATA[".utf8) {
                let end = text.firstRange(of: Array("]]>".utf8), from: place) ?? text.count
                let part = Self.trimmed(text, place + 9..<max(place + 9, end))
                let value = Array(text[part])
                if let secret {
                    if !part.isEmpty { spans.append(Self.span(part, secret, value, SecretNames.placeholder)) }
                } else {
                    spans += nested(value).map { $0.moved(by: part.lowerBound) }
                }
                place = min(end + 3, text.count)
                continue
            }
            if text[place...].starts(with: "<!--".utf8) {
                place = text.firstRange(of: Array("-->".utf8), from: place).map { $0 + 3 } ?? text.count
                continue
            }
            let tag = Self.tag(text, place)
            place = tag.end
            if tag.isEnd {
                if let index = open.lastIndex(where: { $0.name == tag.name }) { open.removeSubrange(index...) }
                continue
            }
            guard !tag.name.isEmpty else { continue }
            spans += attributes(of: tag, text, isPage: isPage)
            if !tag.isEmpty, open.count < Self.deepestMarkup {
                let own = hides(Self.local(tag.name)) ? Self.local(tag.name) : nil
                let isNamed = named != nil && !Self.namesOther(tag.name)
                open.append((tag.name, open.last.flatMap(\.secret) ?? own ?? (isNamed ? named : nil)))
                if isNamed { named = nil }
            }
        }
        return spans
    }

    private mutating func attributes(of tag: Tag, _ text: [UInt8], isPage: Bool) -> [SecretSpan] {
        var spans: [SecretSpan] = []
        var other: [UInt8]?
        for (name, range) in tag.attributes where Self.namesOther(name) || String(decoding: name, as: UTF8.self) == "id"
        {
            let value = Self.unescapedMarkup(text, range).bytes
            if hides(value) { other = value }
        }
        for (name, range) in tag.attributes where !range.isEmpty && !Self.namesOther(name) {
            let value = Self.unescapedMarkup(text, range)
            let isValue = ["value", "content"].contains(String(decoding: name, as: UTF8.self).lowercased())
            guard let secret = isValue && other != nil ? other : hides(Self.local(name)) ? Self.local(name) : nil else {
                if !isPage { spans += value.outer(nested(value.bytes), encode: Self.escapedMarkup) }
                continue
            }
            if isMarkupSecret(value.bytes, secret, isPage) {
                spans.append(Self.span(range, secret, value.bytes, SecretNames.placeholder))
            }
        }
        return spans
    }

    private func isMarkupSecret(_ value: [UInt8], _ name: [UInt8], _ isPage: Bool) -> Bool {
        guard isSecret(value, name: name) else { return false }
        if Self.namesOther(name), !SecretValue.looksRandom(value) { return false }
        return !isPage || !SecretNames.isAmbiguous(String(decoding: name, as: UTF8.self))
    }

    /// A tag, with the ranges of its attributes' values.
    fileprivate struct Tag {
        var name: [UInt8] = []
        var attributes: [(name: [UInt8], value: Range<Int>)] = []
        var isEnd = false
        /// Whether the element ends with its tag.
        var isEmpty = false
        /// The index after the tag.
        var end: Int
    }

    private static func tag(_ text: [UInt8], _ start: Int) -> Tag {
        var tag = Tag(end: start + 1)
        var place = start + 1
        if place < text.count, text[place] == UInt8(ascii: "/") {
            tag.isEnd = true
            place += 1
        }
        let nameEnd = text[place...].firstIndex { !isInTagName($0) } ?? text.count
        tag.name = Array(text[place..<nameEnd])
        guard !tag.name.isEmpty else { return tag }
        place = nameEnd
        while place < text.count, text[place] != UInt8(ascii: ">") {
            let end = text[place...].firstIndex { !isInTagName($0) } ?? text.count
            guard end > place else {
                tag.isEmpty = text[place] == UInt8(ascii: "/")
                place += 1
                continue
            }
            let name = Array(text[place..<end])
            let equals = text[end...].firstIndex { $0 > 0x20 } ?? text.count
            place = end
            guard equals < text.count, text[equals] == UInt8(ascii: "=") else { continue }
            let first = text[(equals + 1)...].firstIndex { $0 > 0x20 } ?? text.count
            guard first < text.count else { return tag.ending(at: text.count) }
            if "\"'".utf8.contains(text[first]) {
                let close = text[(first + 1)...].firstIndex(of: text[first]) ?? text.count
                tag.attributes.append((name, first + 1..<close))
                place = min(close + 1, text.count)
            } else {
                place = text[first...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: ">") } ?? text.count
                tag.attributes.append((name, first..<place))
            }
            tag.isEmpty = false
        }
        return tag.ending(at: min(place + 1, text.count))
    }

    private static func isInTagName(_ byte: UInt8) -> Bool { byte.isInWord || ".:!?@".utf8.contains(byte) }

    /// Whether an element or an attribute has the name of what stands beside it.
    private static func namesOther(_ name: [UInt8]) -> Bool {
        ["key", "name", "property"].contains(String(decoding: local(name), as: UTF8.self).lowercased())
    }

    /// A name without its namespace.
    private static func local(_ name: [UInt8]) -> [UInt8] {
        name.lastIndex(of: UInt8(ascii: ":")).map { Array(name[($0 + 1)...]) } ?? name
    }

    private static func trimmed(_ text: [UInt8], _ range: Range<Int>) -> Range<Int> {
        guard let first = text[range].firstIndex(where: { $0 > 0x20 }),
            let last = text[range].lastIndex(where: { $0 > 0x20 })
        else { return range.lowerBound..<range.lowerBound }
        return first..<last + 1
    }

    /// A text without references to characters, such as `&amp;` and `&#x2F;`.
    private static func unescapedMarkup(_ text: [UInt8], _ range: Range<Int>) -> DecodedPart {
        guard text[range].contains(UInt8(ascii: "&")) else { return DecodedPart(text, range) }
        var part = DecodedPart(for: range)
        var place = range.lowerBound
        while place < range.upperBound {
            if text[place] == UInt8(ascii: "&"), let (scalar, length) = reference(text[place..<range.upperBound]) {
                for byte in String(Character(scalar)).utf8 { part.append(byte, at: place) }
                place += length
            } else {
                part.append(text[place], at: place)
                place += 1
            }
        }
        return part
    }

    /// The character of a reference and the reference's length; nil for other text.
    static func reference(_ text: ArraySlice<UInt8>) -> (Unicode.Scalar, length: Int)? {
        guard let end = text.prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let length = end + 1 - text.startIndex
        let name = String(decoding: text[(text.startIndex + 1)..<end], as: UTF8.self)
        if let scalar = references[name] { return (scalar, length) }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let number =
            digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { ($0, length) }
    }

    /// Deeper elements belong to the secret of the last one that is counted.
    private static var deepestMarkup: Int { 500 }

    private static let references: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
    ]

    private static func escapedMarkup(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { $0 == UInt8(ascii: "\"") ? Array("&quot;".utf8) : [$0] }
    }
}

extension SecretSearch.Tag {
    fileprivate func ending(at end: Int) -> Self {
        var tag = self
        tag.end = end
        return tag
    }
}
