#if Gateway
import WaystationHTTP

extension PageScanner {
    /// Reads the text between tags, and the start of the next tag (HTML §13.2.5.1, §13.2.5.6, §13.2.5.7, §13.2.5.42).
    mutating func readData(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool, _ output: inout RewrittenText) -> Bool {
        let end = text.first(UInt8(ascii: "<"), from: index, to: text.count) ?? text.count
        if style != nil {
            readStyle(text, to: end, isLast: end < text.count, &output)
            guard index == end else { return false }
        }
        index = end
        guard end < text.count else { return true }
        guard end + 1 < text.count else { return endOfText(text, isLast) }
        switch text[end + 1] {
        case let byte where byte.isASCIILetter || (syntax == .xml && Self.beginsName(byte)):
            beginTag(isEnd: false, nameAt: end + 1)
            if style != nil { endStyle() }
        case UInt8(ascii: "/"):
            guard end + 2 < text.count else { return endOfText(text, isLast) }
            if text[end + 2].isASCIILetter || (syntax == .xml && Self.beginsName(text[end + 2])) {
                beginTag(isEnd: true, nameAt: end + 2)
                if style != nil { endStyle() }
            } else {
                index = end + 2
                state = .bogusComment
            }
        case UInt8(ascii: "!"): return readDeclaration(text, isLast: isLast)
        case UInt8(ascii: "?"):
            index = end + 2
            state = syntax == .xml ? .instruction : .bogusComment
        default: index = end + 1
        }
        return true
    }

    /// XML has more characters at the start of a name than HTML (XML 1.0 §2.3).
    private static func beginsName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") || byte >= 0x80
    }

    /// The bytes end within what would begin a tag or a declaration: they are text if they are the last ones.
    private mutating func endOfText(_ text: UnsafeBufferPointer<UInt8>, _ isLast: Bool) -> Bool {
        if isLast { index = text.count }
        return isLast
    }

    /// Reads what follows `<!`.
    private mutating func readDeclaration(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool) -> Bool {
        let start = index + 2
        let isComment = text.begins(with: Self.commentStart, at: start)
        if isComment == true {
            index = start + Self.commentStart.count
            state = .commentStart
            return true
        }
        let hasCDATA = syntax == .xml || foreign.isForeign
        let isCDATA = hasCDATA ? text.begins(with: Self.cdataStart, at: start, isExact: true) : false
        if isCDATA == true {
            index = start + Self.cdataStart.count
            state = .cdata
            return true
        }
        guard isLast || (isComment != nil && isCDATA != nil) else { return false }
        index = start
        state = syntax == .xml ? .doctype(quote: nil, depth: 0) : .bogusComment
        return true
    }

    private static let commentStart = Array("--".utf8)
    private static let cdataStart = Array("[CDATA[".utf8)

    /// Reads a comment until its state changes (HTML §13.2.5.43 to §13.2.5.52).
    mutating func readComment(_ text: UnsafeBufferPointer<UInt8>) {
        let byte = text[index]
        switch (state, byte) {
        case (.comment, _):
            guard let dash = text.first(UInt8(ascii: "-"), from: index, to: text.count) else {
                return index = text.count
            }
            index = dash
            state = .commentEndDash
        case (.commentStart, UInt8(ascii: "-")): state = .commentStartDash
        case (.commentStartDash, UInt8(ascii: "-")), (.commentEndDash, UInt8(ascii: "-")): state = .commentEnd
        case (.commentEnd, UInt8(ascii: "-")): break
        case (.commentEndBang, UInt8(ascii: "-")): state = .commentEndDash
        case (.commentEnd, UInt8(ascii: "!")) where syntax == .html: state = .commentEndBang
        case (.commentEnd, UInt8(ascii: ">")): endMarkup()
        case (.commentStart, UInt8(ascii: ">")), (.commentStartDash, UInt8(ascii: ">")),
            (.commentEndBang, UInt8(ascii: ">")):
            state = syntax == .html ? .data : .comment
        default:
            state = .comment
            return
        }
        index += 1
    }

    /// Reads a CDATA section (HTML §13.2.5.69).
    mutating func readCDATA(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool, _ output: inout RewrittenText) -> Bool {
        var end = index
        var isEnd = false
        while let bracket = text.first(UInt8(ascii: "]"), from: end, to: text.count) {
            end = bracket
            let match = text.begins(with: Self.cdataEnd, at: bracket)
            if match == true { isEnd = true }
            guard match == false else { break }
            end += 1
        }
        let isWaiting = !isEnd && end < text.count && text[end] == UInt8(ascii: "]") && !isLast
        if !isEnd, !isWaiting { end = text.count }
        if style != nil {
            readStyle(text, to: end, isLast: isEnd, &output)
            guard index == end else { return false }
        }
        index = end
        if isEnd {
            index = end + Self.cdataEnd.count
            state = .data
        }
        return !isWaiting
    }

    private static let cdataEnd = Array("]]>".utf8)

    /// Reads an instruction of XML (XML 1.0 §2.6).
    mutating func readInstruction(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool) -> Bool {
        guard let mark = text.first(UInt8(ascii: "?"), from: index, to: text.count) else {
            index = text.count
            return true
        }
        index = mark
        guard mark + 1 < text.count else { return endOfText(text, isLast) }
        let isEnd = text[mark + 1] == UInt8(ascii: ">")
        index = mark + (isEnd ? 2 : 1)
        if isEnd { endMarkup() }
        return true
    }

    /// Ends a comment or an instruction, which may stand within a document type.
    private mutating func endMarkup() {
        state = doctypeDepth.map { .doctype(quote: nil, depth: $0) } ?? .data
        doctypeDepth = nil
    }

    /// Reads a document type of XML, which may declare entities (XML 1.0 §2.8).
    ///
    /// - Returns: False if more bytes are needed.
    mutating func readDoctype(
        _ quote: UInt8?,
        _ depth: Int,
        _ text: UnsafeBufferPointer<UInt8>,
        isLast: Bool
    ) -> Bool {
        let byte = text[index]
        if quote == nil, byte == UInt8(ascii: "<") {
            let isComment = text.begins(with: Self.escapeStart, at: index)
            let isInstruction = text.begins(with: Self.instructionStart, at: index)
            guard isLast || (isComment != nil && isInstruction != nil) else { return false }
            if isComment == true || isInstruction == true {
                index += isComment == true ? Self.escapeStart.count : Self.instructionStart.count
                doctypeDepth = depth
                state = isComment == true ? .commentStart : .instruction
                return true
            }
        }
        index += 1
        switch byte {
        case _ where byte == quote: state = .doctype(quote: nil, depth: depth)
        case _ where quote != nil: break
        case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .doctype(quote: byte, depth: depth)
        case UInt8(ascii: "["), UInt8(ascii: "<"): state = .doctype(quote: nil, depth: depth + 1)
        case UInt8(ascii: "]"): state = .doctype(quote: nil, depth: max(0, depth - 1))
        case UInt8(ascii: ">"): state = depth == 0 ? .data : .doctype(quote: nil, depth: depth - 1)
        default: break
        }
        return true
    }

    private static let instructionStart = Array("<?".utf8)

    // MARK: - Text up to an end tag

    /// Reads text that only its own end tag ends (HTML §13.2.5.2, §13.2.5.3).
    mutating func readText(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool, _ output: inout RewrittenText) -> Bool {
        var end = index
        var match: Bool? = false
        while let mark = text.first(UInt8(ascii: "<"), from: end, to: text.count) {
            end = mark
            match = endsText(endTag, text, mark, isLast)
            guard match == false else { break }
            end += 1
        }
        if match == false { end = text.count }
        if style != nil {
            readStyle(text, to: end, isLast: match == true, &output)
            guard index == end else { return false }
        }
        index = end
        if match == true {
            beginTag(isEnd: true, nameAt: end + 2)
            endStyle()
        }
        return match != nil
    }

    /// Whether a tag begins at a place, with a name that has ended; nil if more bytes are needed.
    private func endsText(
        _ tag: [UInt8],
        _ text: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ isLast: Bool
    ) -> Bool? {
        guard let begins = text.begins(with: tag, at: start) else { return isLast ? false : nil }
        guard begins else { return false }
        guard start + tag.count < text.count else { return isLast ? false : nil }
        let next = text[start + tag.count]
        return Characters.isSpace(next) || next == UInt8(ascii: "/") || next == UInt8(ascii: ">")
    }

    /// Reads a script (HTML §13.2.5.4, §13.2.5.15 to §13.2.5.31).
    mutating func readScript(
        _ script: Script,
        _ dashes: Int,
        _ text: UnsafeBufferPointer<UInt8>,
        isLast: Bool
    ) -> Bool {
        if script == .plain {
            guard let mark = text.first(UInt8(ascii: "<"), from: index, to: text.count) else {
                index = text.count
                return true
            }
            index = mark
            return readMarkInScript(script, text, isLast: isLast)
        }
        let byte = text[index]
        switch byte {
        case UInt8(ascii: "<"): return readMarkInScript(script, text, isLast: isLast)
        case UInt8(ascii: ">") where dashes >= 2: state = .script(.plain, dashes: 0)
        case UInt8(ascii: "-"): state = .script(script, dashes: min(2, dashes + 1))
        default: state = .script(script, dashes: 0)
        }
        index += 1
        return true
    }

    private mutating func readMarkInScript(
        _ script: Script,
        _ text: UnsafeBufferPointer<UInt8>,
        isLast: Bool
    ) -> Bool {
        guard let ends = endsText(Self.scriptEnd, text, index, isLast) else { return false }
        if ends {
            if script == .doubleEscaped {
                index += Self.scriptEnd.count + 1
                state = .script(.escaped, dashes: 0)
            } else {
                beginTag(isEnd: true, nameAt: index + 2)
            }
            return true
        }
        switch script {
        case .plain:
            guard let begins = text.begins(with: Self.escapeStart, at: index) ?? (isLast ? false : nil) else {
                return false
            }
            index += begins ? Self.escapeStart.count : 1
            state = begins ? .script(.escaped, dashes: 2) : .script(.plain, dashes: 0)
        case .escaped:
            guard let begins = endsText(Self.scriptStart, text, index, isLast) else { return false }
            index += begins ? Self.scriptStart.count + 1 : 1
            state = .script(begins ? .doubleEscaped : .escaped, dashes: 0)
        case .doubleEscaped:
            index += 1
            state = .script(.doubleEscaped, dashes: 0)
        }
        return true
    }

    private static let scriptStart = Array("<script".utf8)
    private static let scriptEnd = Array("</script".utf8)
    private static let escapeStart = Array("<!--".utf8)

    // MARK: - Style sheets

    /// Reads the text of a style sheet.
    mutating func readStyle(
        _ text: UnsafeBufferPointer<UInt8>,
        to end: Int,
        isLast: Bool,
        _ output: inout RewrittenText
    ) {
        var edits: [Links.Edit] = []
        style?.scan(text, &index, to: end, isLast: isLast, &edits)
        for edit in edits { output.apply(edit, to: text) }
    }

    private mutating func endStyle() { style = nil }
}

/// A tag as far as it was read.
struct Tag {
    var name = ShortName()
    var element = Element.other
    var isEnd = false
    var isEmpty = false
    /// The attribute whose name or value is being read; nil for unknown ones.
    var attribute: Attribute?
    var attributeName = ShortName()
    /// The attributes that were read, one bit for each: of several ones with one name only the first counts.
    private var seen: UInt32 = 0
    /// The start of a value that is needed.
    var valueStart: Int?
    /// The content of a `meta` tag, which is read when the rest of the tag is known.
    var content: (range: Range<Int>, isQuoted: Bool)?
    var meaning = MetaMeaning.none
    /// Whether the content of an `annotation-xml` is HTML.
    var hasHTML = false

    /// The meaning of a `meta` tag's content.
    enum MetaMeaning {
        case none, refresh, policy
    }

    /// Takes the name of an attribute when it has been read.
    mutating func endAttributeName() {
        attribute = nil
        guard !isEnd, let named = Attribute.named(attributeName) else { return }
        let bit = UInt32(1) << named.rawValue
        guard seen & bit == 0 else { return }
        seen |= bit
        let isRead =
            switch named {
            case .data: element == .object
            case .content, .httpEquiv: element == .meta
            case .encoding: element == .annotation
            case .color, .face, .size: false
            default: element != .meta
            }
        if isRead { attribute = named }
    }

    /// Whether the tag ends SVG and MathML before it.
    var breaksOut: Bool {
        element == .breakout || element == .meta || (element == .font && has(.color, .face, .size))
    }

    private func has(_ attributes: Attribute...) -> Bool {
        attributes.contains { seen & (UInt32(1) << $0.rawValue) != 0 }
    }
}
#endif
