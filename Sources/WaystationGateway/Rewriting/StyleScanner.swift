#if Gateway
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
#endif
