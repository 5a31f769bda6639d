#if Gateway
extension PageScanner {
    /// Reads in a tag until the state changes (HTML §13.2.5.8, §13.2.5.32 to §13.2.5.40).
    mutating func readTag(_ text: UnsafeBufferPointer<UInt8>, _ output: inout RewrittenText) {
        switch state {
        case .tagName: readTagName(text, &output)
        case .beforeAttributeName:
            skipSpaces(text)
            guard index < text.count else { return }
            switch text[index] {
            case UInt8(ascii: "/"), UInt8(ascii: ">"): state = .afterAttributeName
            default: beginAttribute(text)
            }
        case .attributeName: readAttributeName(text)
        case .afterAttributeName: readAfterAttributeName(text, &output)
        case .beforeValue:
            skipSpaces(text)
            guard index < text.count else { return }
            switch text[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                state = .value(quote: text[index])
                index += 1
            case UInt8(ascii: ">"): return endTag(text, &output)
            default: state = .value(quote: nil)
            }
            if tag.attribute != nil { tag.valueStart = index }
        case .value(let quote): readValue(quote, text, &output)
        case .afterValue:
            // Without a space, the next attribute begins all the same.
            state =
                text[index] == UInt8(ascii: "/") || text[index] == UInt8(ascii: ">")
                ? .afterAttributeName
                : .beforeAttributeName
        case .selfClosing:
            if text[index] == UInt8(ascii: ">") {
                tag.isEmpty = true
                endTag(text, &output)
            } else {
                state = .beforeAttributeName
            }
        default: break
        }
    }

    /// Begins a tag whose name begins at a place.
    mutating func beginTag(isEnd: Bool, nameAt start: Int) {
        tag = Tag()
        tag.isEnd = isEnd
        index = start
        state = .tagName
    }

    private mutating func skipSpaces(_ text: UnsafeBufferPointer<UInt8>) {
        while index < text.count, Characters.isSpace(text[index]) { index += 1 }
    }

    private mutating func readTagName(_ text: UnsafeBufferPointer<UInt8>, _ output: inout RewrittenText) {
        var name = tag.name
        defer { tag.name = name }
        while index < text.count {
            let byte = text[index]
            if Characters.isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">") {
                tag.element = Element.named(name)
                state = .beforeAttributeName
                return
            }
            name.append(byte)
            index += 1
        }
    }

    private mutating func beginAttribute(_ text: UnsafeBufferPointer<UInt8>) {
        tag.attributeName = ShortName()
        // An equals sign at the start belongs to the name.
        tag.attributeName.append(text[index])
        index += 1
        state = .attributeName
    }

    private mutating func readAttributeName(_ text: UnsafeBufferPointer<UInt8>) {
        var name = tag.attributeName
        defer { tag.attributeName = name }
        while index < text.count {
            let byte = text[index]
            let isEnd = Characters.isSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">")
            if isEnd || byte == UInt8(ascii: "=") {
                tag.attributeName = name
                tag.endAttributeName()
                state = isEnd ? .afterAttributeName : .beforeValue
                if !isEnd { index += 1 }
                return
            }
            name.append(byte)
            index += 1
        }
    }

    private mutating func readAfterAttributeName(_ text: UnsafeBufferPointer<UInt8>, _ output: inout RewrittenText) {
        skipSpaces(text)
        guard index < text.count else { return }
        switch text[index] {
        case UInt8(ascii: "/"):
            index += 1
            state = .selfClosing
        case UInt8(ascii: "="):
            index += 1
            state = .beforeValue
        case UInt8(ascii: ">"): endTag(text, &output)
        default: beginAttribute(text)
        }
    }

    private mutating func readValue(
        _ quote: UInt8?,
        _ text: UnsafeBufferPointer<UInt8>,
        _ output: inout RewrittenText
    ) {
        if let quote {
            guard let end = text.first(quote, from: index, to: text.count) else { return index = text.count }
            index = end
            endValue(text, isQuoted: true, &output)
            index += 1
            state = .afterValue
            return
        }
        while index < text.count {
            let byte = text[index]
            if Characters.isSpace(byte) || byte == UInt8(ascii: ">") {
                endValue(text, isQuoted: false, &output)
                state = .afterValue
                return
            }
            index += 1
        }
    }

    private mutating func endValue(
        _ text: UnsafeBufferPointer<UInt8>,
        isQuoted: Bool,
        _ output: inout RewrittenText
    ) {
        guard let attribute = tag.attribute, let start = tag.valueStart else { return }
        tag.valueStart = nil
        tag.attribute = nil
        guard index - start <= limit else { return }
        let range = start..<index
        switch attribute {
        case .content: tag.content = (range, isQuoted)
        case .httpEquiv: tag.meaning = Self.meaning(text, range)
        case .encoding:
            let encoding = CharacterReferences.decoded(text, range).bytes.map(Characters.lowered)
            tag.hasHTML = Self.encodingsOfHTML.contains(encoding)
        default:
            for edit in attribute.value?.edits(text, range, links) ?? [] { output.apply(edit, to: text) }
            // Afterwards: the URL of the base itself is relative to the page (HTML §4.2.3).
            if attribute == .href, tag.element == .base { takeBase(text, range) }
        }
    }

    private static let encodingsOfHTML: Set<[UInt8]> = [
        Array("text/html".utf8), Array("application/xhtml+xml".utf8),
    ]

    private static func meaning(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Tag.MetaMeaning {
        let value = CharacterReferences.decoded(text, range).bytes.map(Characters.lowered)
        if value.elementsEqual("refresh".utf8) { return .refresh }
        return value.elementsEqual("content-security-policy".utf8) ? .policy : .none
    }

    /// The first `base` with an `href` decides which scheme URLs without one have.
    private mutating func takeBase(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        guard !hasBase else { return }
        hasBase = true
        let value = CharacterReferences.decoded(text, range)
        if let base = AbsoluteURL(value, value.bytes.indices, base: links.scheme) { links.setBase(base) }
    }

    /// Takes the end of a tag, at its `>`.
    private mutating func endTag(_ text: UnsafeBufferPointer<UInt8>, _ output: inout RewrittenText) {
        readContent(text, &output)
        index += 1
        state = .data
        if tag.isEnd {
            foreign.end(tag.name, tag.element)
        } else {
            beginContent()
        }
        tag = Tag()
    }

    private mutating func readContent(_ text: UnsafeBufferPointer<UInt8>, _ output: inout RewrittenText) {
        guard let (range, isQuoted) = tag.content, index - range.lowerBound <= limit else { return }
        let value: LinkValue
        switch tag.meaning {
        case .none: return
        case .refresh: value = .refresh
        case .policy: value = .policy(isQuoted: isQuoted)
        }
        for edit in value.edits(text, range, links) { output.apply(edit, to: text) }
    }

    /// Finds out how the content of an element is read.
    private mutating func beginContent() {
        if syntax == .xml {
            if tag.element == .style, !tag.isEmpty { style = StyleScanner(links, limit: limit) }
            return
        }
        let isForeign = foreign.start(
            tag.name,
            tag.element,
            isEmpty: tag.isEmpty,
            breaksOut: tag.breaksOut,
            hasHTML: tag.hasHTML
        )
        switch tag.element {
        case .style:
            if isForeign, tag.isEmpty { return }
            style = StyleScanner(links, limit: limit)
            if !isForeign { beginText() }
        case .title, .textarea, .rawText: if !isForeign { beginText() }
        case .script: if !isForeign { state = .script(.plain, dashes: 0) }
        case .plaintext: if !isForeign { state = .plaintext }
        default: break
        }
    }

    private mutating func beginText() {
        endTag = Array("</".utf8) + tag.name.bytes
        state = .text
    }
}
#endif
