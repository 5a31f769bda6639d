#if Gateway
import WaystationHTTP

/// Finds the URLs of a style sheet among its tokens (CSS Syntax Level 3 §4): `url(…)`, the string of `@import`, and the
/// strings of `image-set()`.
///
/// The text may arrive in parts. The scanner stops before bytes that it cannot take without those that follow.
struct StyleScanner {
    enum State {
        /// Between tokens.
        case base
        /// Within a name: of a function, an at-rule, a property, or anything else.
        case name(ShortName)
        case comment
        case string(quote: UInt8)
        /// After `url(`.
        case urlStart
        case url
        /// After the white space that ends a URL.
        case urlEnd(Int)
        case badURL
    }

    /// The meaning of a name by the byte before it.
    private enum Prefix {
        case none
        case at
        case hash
    }

    enum Statement {
        case other
        /// After `@import`: a string is a URL.
        case importing
        /// Within `@namespace`, whose URLs are names.
        case namespace
    }

    let limit: Int
    var links: Links
    var state = State.base
    private var prefix = Prefix.none
    var statement = Statement.other
    /// The number of open parentheses from that of `image-set()` on; 0 outside of it.
    var imageSet = 0
    /// The start of the URL that is being read; nil in other tokens, and in those beyond the limit.
    var start: Int?

    /// Makes the scanner of a style sheet.
    ///
    /// - Parameters:
    ///   - links: The URLs to replace.
    ///   - limit: The length in bytes from which on a token stays as it is.
    init(_ links: Links, limit: Int) {
        self.links = links
        self.limit = limit
    }

    /// Reads tokens until the end of the bytes, or until more are needed.
    ///
    /// - Parameters:
    ///   - text: The bytes.
    ///   - index: The first byte that was not read, and afterwards the next such byte.
    ///   - end: The end of the bytes that belong to the style sheet.
    ///   - isLast: Whether the style sheet ends there.
    ///   - edits: The edits are appended.
    mutating func scan(
        _ text: UnsafeBufferPointer<UInt8>,
        _ index: inout Int,
        to end: Int,
        isLast: Bool,
        _ edits: inout [Links.Edit]
    ) {
        let input = StyleText(bytes: text, end: end, isLast: isLast)
        var canGoOn = true
        while canGoOn, index < end {
            switch state {
            case .base: canGoOn = base(input, &index)
            case .name(let name): canGoOn = self.name(name, input, &index)
            case .comment: canGoOn = comment(input, &index)
            case .string(let quote): canGoOn = string(quote, input, &index, &edits)
            case .urlStart: urlStart(input, &index)
            case .url: canGoOn = url(input, &index, &edits)
            case .urlEnd(let urlEnd): self.urlEnd(urlEnd, input, &index, &edits)
            case .badURL: canGoOn = badURL(input, &index)
            }
        }
        if isLast, index == end { finish(input, &edits) }
    }

    /// The first byte that is needed again: the start of the URL that is being read, if it is not too long.
    ///
    /// - Parameter index: The first byte that was not read.
    /// - Returns: The place of the byte.
    func firstKept(_ index: Int) -> Int {
        guard let start else { return index }
        return index - start > limit ? index : start
    }

    /// Moves to bytes from which the first ones were taken away.
    mutating func shift(by count: Int) {
        if let place = start { start = place < count ? nil : place - count }
        if case .urlEnd(let end) = state { state = .urlEnd(end - count) }
    }

    // MARK: - Tokens

    private mutating func base(_ input: StyleText, _ index: inout Int) -> Bool {
        let byte = input.bytes[index]
        if StyleText.isNameByte(byte) {
            state = .name(ShortName())
            return true
        }
        switch byte {
        case UInt8(ascii: "\\"):
            guard let isBeforeLineEnd = input.isBeforeLineEnd(index) else { return false }
            if !isBeforeLineEnd {
                state = .name(ShortName())
                return true
            }
        case UInt8(ascii: "/"):
            guard index + 1 < input.end || input.isLast else { return false }
            if index + 1 < input.end, input.bytes[index + 1] == UInt8(ascii: "*") {
                state = .comment
                prefix = .none
                index += 2
                return true
            }
        case UInt8(ascii: "<"):
            // `<!--` is a token, so that its hyphens do not begin a name.
            let token = input.bytes.begins(with: Array("<!--".utf8), at: index)
            guard index + 4 <= input.end || input.isLast || token == false else { return false }
            if token == true, index + 4 <= input.end {
                index += 4
                prefix = .none
                return true
            }
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            index += 1
            prefix = .none
            state = .string(quote: byte)
            if statement == .importing || (imageSet == 1 && statement != .namespace) { start = index }
            statement = statement == .importing ? .other : statement
            return true
        case UInt8(ascii: "("): if imageSet > 0 { imageSet += 1 }
        case UInt8(ascii: ")"): if imageSet > 0 { imageSet -= 1 }
        case UInt8(ascii: ";"), UInt8(ascii: "{"), UInt8(ascii: "}"):
            statement = .other
            imageSet = 0
        default: break
        }
        if statement == .importing, !Characters.isSpace(byte) { statement = .other }
        prefix =
            switch byte {
            case UInt8(ascii: "@"): .at
            case UInt8(ascii: "#"): .hash
            default: .none
            }
        index += 1
        return true
    }

    private mutating func name(_ known: ShortName, _ input: StyleText, _ index: inout Int) -> Bool {
        var name = known
        while index < input.end {
            let byte = input.bytes[index]
            if StyleText.isNameByte(byte) {
                name.append(byte)
                index += 1
            } else if byte == UInt8(ascii: "\\") {
                guard let isBeforeLineEnd = input.isBeforeLineEnd(index), let end = input.escapeEnd(index) else {
                    state = .name(name)
                    return false
                }
                if isBeforeLineEnd {
                    endName(name, isFunction: false)
                    return true
                }
                name.append(input.nameByte(index, to: end))
                index = end
            } else {
                let isFunction = byte == UInt8(ascii: "(") && prefix == .none
                if isFunction { index += 1 }
                endName(name, isFunction: isFunction)
                return true
            }
        }
        state = .name(name)
        return true
    }

    private mutating func endName(_ name: ShortName, isFunction: Bool) {
        let prefix = prefix
        self.prefix = .none
        state = .base
        if prefix == .at { return statement = Self.statements[name] ?? .other }
        if statement == .importing, !(isFunction && name == Self.url) { statement = .other }
        guard isFunction else { return }
        if name == Self.url {
            state = .urlStart
        } else if imageSet > 0 {
            imageSet += 1
        } else if Self.imageSets.contains(name) {
            imageSet = 1
        }
    }

    private static let url = ShortName("url")
    private static let imageSets: Set<ShortName> = [ShortName("image-set"), ShortName("-webkit-image-set")]
    private static let statements = [ShortName("import"): Statement.importing, ShortName("namespace"): .namespace]

    private mutating func comment(_ input: StyleText, _ index: inout Int) -> Bool {
        guard let star = input.bytes.first(UInt8(ascii: "*"), from: index, to: input.end) else {
            index = input.end
            return true
        }
        index = star
        guard star + 1 < input.end else {
            if input.isLast { index = input.end }
            return false
        }
        let isEnd = input.bytes[star + 1] == UInt8(ascii: "/")
        index = star + (isEnd ? 2 : 1)
        if isEnd { state = .base }
        return true
    }
}

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

    private mutating func urlStart(_ input: StyleText, _ index: inout Int) {
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

    private mutating func urlEnd(_ end: Int, _ input: StyleText, _ index: inout Int, _ edits: inout [Links.Edit]) {
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
    private mutating func endURL(
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

/// The bytes of a style sheet that have arrived, and their escapes (CSS Syntax Level 3 §4.3.7).
struct StyleText {
    let bytes: UnsafeBufferPointer<UInt8>
    /// The end of the bytes that belong to the style sheet.
    let end: Int
    /// Whether the style sheet ends there.
    let isLast: Bool

    /// The end of the escape that begins with the backslash at a place; nil if more bytes are needed.
    ///
    /// A backslash before a line end is not an escape; its end is that of the line end.
    func escapeEnd(_ index: Int) -> Int? {
        var next = index + 1
        guard next < end else { return isLast ? end : nil }
        while next < end, next - index <= 6, bytes[next].hexadecimalDigit != nil { next += 1 }
        let isHex = next > index + 1
        if isHex, next == end { return isLast ? end : nil }
        guard isHex ? Characters.isSpace(bytes[next]) : true else { return next }
        guard bytes[next] == Characters.carriageReturn else { return next + 1 }
        // A carriage return and a line feed are one line end.
        guard next + 1 < end else { return isLast ? end : nil }
        return bytes[next + 1] == Characters.lineFeed ? next + 2 : next + 1
    }

    /// Whether the backslash at a place is followed by a line end; nil if more bytes are needed.
    func isBeforeLineEnd(_ index: Int) -> Bool? {
        guard index + 1 < end else { return isLast ? false : nil }
        return Self.isLineEnd(bytes[index + 1])
    }

    /// The character of an escape, for the comparison with names of ASCII letters.
    func nameByte(_ index: Int, to end: Int) -> UInt8 {
        let code = escapedCode(index, to: end)
        return code < 0x80 ? UInt8(code) : 0xff
    }

    /// The number of the character of an escape, or the byte after the backslash.
    private func escapedCode(_ index: Int, to end: Int) -> UInt32 {
        guard index + 1 < end else { return 0xfffd }
        guard bytes[index + 1].hexadecimalDigit != nil else { return UInt32(bytes[index + 1]) }
        var code: UInt32 = 0
        for byte in bytes[(index + 1)..<end] {
            guard let digit = byte.hexadecimalDigit else { break }
            code = code << 4 | UInt32(digit)
        }
        return code
    }

    /// The text of a string or a URL.
    func unescaped(_ range: Range<Int>) -> MappedBytes {
        guard bytes.first(UInt8(ascii: "\\"), from: range.lowerBound, to: range.upperBound) != nil else {
            return MappedBytes(bytes[range], at: range.lowerBound)
        }
        let part = StyleText(bytes: bytes, end: range.upperBound, isLast: true)
        var url = MappedBytes(capacity: range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            guard bytes[index] == UInt8(ascii: "\\"), let end = part.escapeEnd(index) else {
                url.append(bytes[index], at: index)
                index += 1
                continue
            }
            if part.isBeforeLineEnd(index) != true, index + 1 < range.upperBound {
                let code = part.escapedCode(index, to: end)
                if bytes[index + 1].hexadecimalDigit == nil {
                    url.append(UInt8(code), at: index)
                } else {
                    url.append(code == 0 ? "\u{fffd}" : Unicode.Scalar(code) ?? "\u{fffd}", at: index)
                }
            }
            index = end
        }
        url.end(at: range.upperBound)
        return url
    }

    static func isLineEnd(_ byte: UInt8) -> Bool {
        byte == Characters.lineFeed || byte == Characters.carriageReturn || byte == Characters.formFeed
    }

    static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
            || byte == 0
    }
}
#endif
