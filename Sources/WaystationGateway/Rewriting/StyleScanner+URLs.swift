#if Gateway
/// The tokens that hold a URL, and the strings that are one.
extension StyleScanner {
    mutating func string(
        _ quote: UInt8,
        _ input: StyleText,
        _ index: inout Int,
        _ edits: inout [Links.Edit]
    ) -> Bool {
        while index < input.end {
            let byte = input.bytes[index]
            if byte == quote {
                endURL(at: index, index, input, &edits)
                index += 1
                state = .base
                return true
            }
            if StyleText.isLineEnd(byte) {
                start = nil
                state = .base
                return true
            }
            guard byte == UInt8(ascii: "\\") else {
                index += 1
                continue
            }
            guard let end = input.escapeEnd(index) else { return false }
            index = end
        }
        return true
    }

    mutating func urlStart(_ input: StyleText, _ index: inout Int) {
        let byte = input.bytes[index]
        if Characters.isSpace(byte) {
            index += 1
            return
        }
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            index += 1
            if imageSet > 0 { imageSet += 1 }
            state = .string(quote: byte)
        } else {
            state = .url
        }
        start = statement == .namespace ? nil : index
        if statement == .importing { statement = .other }
    }

    mutating func url(_ input: StyleText, _ index: inout Int, _ edits: inout [Links.Edit]) -> Bool {
        while index < input.end {
            let byte = input.bytes[index]
            switch byte {
            case UInt8(ascii: ")"):
                endURL(at: index, index, input, &edits)
                index += 1
                state = .base
                return true
            case _ where Characters.isSpace(byte):
                state = .urlEnd(index)
                return true
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "("), 1...8, 0x0b, 0x0e...0x1f, 0x7f:
                start = nil
                state = .badURL
                return true
            case UInt8(ascii: "\\"):
                guard let isBeforeLineEnd = input.isBeforeLineEnd(index), let end = input.escapeEnd(index) else {
                    return false
                }
                if isBeforeLineEnd {
                    start = nil
                    state = .badURL
                    return true
                }
                index = end
            default: index += 1
            }
        }
        return true
    }

    mutating func urlEnd(_ end: Int, _ input: StyleText, _ index: inout Int, _ edits: inout [Links.Edit]) {
        let byte = input.bytes[index]
        if Characters.isSpace(byte) {
            index += 1
        } else if byte == UInt8(ascii: ")") {
            endURL(at: end, index, input, &edits)
            index += 1
            state = .base
        } else {
            start = nil
            state = .badURL
        }
    }

    mutating func badURL(_ input: StyleText, _ index: inout Int) -> Bool {
        let byte = input.bytes[index]
        guard byte == UInt8(ascii: "\\") else {
            index += 1
            if byte == UInt8(ascii: ")") { state = .base }
            return true
        }
        guard let isBeforeLineEnd = input.isBeforeLineEnd(index), let end = input.escapeEnd(index) else { return false }
        index = isBeforeLineEnd ? index + 1 : end
        return true
    }

    /// A style sheet may end within a URL, which counts (CSS Syntax §4.3.5, §4.3.6).
    mutating func finish(_ input: StyleText, _ edits: inout [Links.Edit]) {
        switch state {
        case .string, .url: endURL(at: input.end, input.end, input, &edits)
        case .urlEnd(let end): endURL(at: end, input.end, input, &edits)
        case .base, .name, .comment, .urlStart, .badURL: break
        }
        state = .base
    }

    /// Takes a URL.
    ///
    /// - Parameters:
    ///   - end: The end of the URL.
    ///   - tokenEnd: The end of its token, for the limit.
    ///   - input: The bytes.
    ///   - edits: The edit is appended.
    mutating func endURL(
        at end: Int,
        _ tokenEnd: Int,
        _ input: StyleText,
        _ edits: inout [Links.Edit]
    ) {
        guard let start, tokenEnd - start <= limit else { return self.start = nil }
        self.start = nil
        let url = input.unescaped(start..<end)
        if let edit = links.edit(url, url.bytes.indices) { edits.append(edit) }
    }

    /// The edits of a text that has arrived as a whole, such as that of an attribute.
    static func edits(_ text: MappedBytes, _ links: Links, limit: Int) -> [Links.Edit] {
        var scanner = StyleScanner(links, limit: limit)
        var edits: [Links.Edit] = []
        text.bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            scanner.scan(bytes, &index, to: bytes.count, isLast: true, &edits)
        }
        return edits.map { Links.Edit(range: text.places($0.range), text: $0.text) }
    }
}
#endif
