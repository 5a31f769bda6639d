#if Gateway
import WaystationHTTP

/// Finds the links of a page as a browser's tokenizer finds tags and their attributes (HTML §13.2.5).
///
/// The text may arrive in parts. Between them, the scanner keeps its state and a few bytes: those of a URL that has not
/// ended, and at most sixteen where more are needed to know what they are.
struct PageScanner: LinkScanner {
    enum Syntax {
        case html
        /// XHTML and SVG (XML 1.0).
        case xml
    }

    enum State {
        case data
        /// Text up to an end tag.
        case text
        case script(Script, dashes: Int)
        case plaintext
        case tagName
        case beforeAttributeName
        case attributeName
        case afterAttributeName
        case beforeValue
        /// A value with quotes; nil for one without.
        case value(quote: UInt8?)
        case afterValue
        case selfClosing
        case commentStart, commentStartDash, comment, commentEndDash, commentEnd, commentEndBang
        /// Anything else in `<!…>` and `<?…>`.
        case bogusComment
        case cdata
        /// An instruction of XML.
        case instruction
        case doctype(quote: UInt8?, depth: Int)
    }

    /// The states of a script, in which `<!--` and `<script` change the meaning of `</script>`.
    enum Script {
        case plain, escaped, doubleEscaped
    }

    let syntax: Syntax
    /// The length in bytes from which on a value stays as it is.
    let limit: Int
    var links: Links
    var state = State.data
    var index = 0
    /// The depth in a document type at which the present comment or instruction stands; nil outside of one.
    var doctypeDepth: Int?
    var tag = Tag()
    var foreign = ForeignContent()
    /// The end tag that ends the present text, in lower case: `</title`.
    var endTag: [UInt8] = []
    /// The scanner of the style sheet that the present text is.
    var style: StyleScanner?
    var hasBase = false

    /// Makes the scanner of a page.
    ///
    /// - Parameters:
    ///   - syntax: The syntax of the page: HTML, or XML.
    ///   - links: The URLs to replace.
    ///   - limit: The length in bytes from which on a value stays as it is.
    init(_ syntax: Syntax, _ links: Links, limit: Int) {
        self.syntax = syntax
        self.links = links
        self.limit = limit
    }

    mutating func scan(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool, _ output: inout RewrittenText) -> Int {
        while index < text.count {
            guard step(text, isLast: isLast, &output) else { break }
        }
        if isLast, style != nil { readStyle(text, to: text.count, isLast: true, &output) }
        let count = firstKept()
        shift(by: count)
        return count
    }

    /// Reads some bytes.
    ///
    /// - Returns: False if more bytes are needed.
    private mutating func step(
        _ text: UnsafeBufferPointer<UInt8>,
        isLast: Bool,
        _ output: inout RewrittenText
    ) -> Bool {
        switch state {
        case .data: return readData(text, isLast: isLast, &output)
        case .text: return readText(text, isLast: isLast, &output)
        case .script(let script, let dashes): return readScript(script, dashes, text, isLast: isLast)
        case .plaintext: index = text.count
        case .cdata: return readCDATA(text, isLast: isLast, &output)
        case .bogusComment: skip(past: UInt8(ascii: ">"), text)
        case .instruction: return readInstruction(text, isLast: isLast)
        case .doctype(let quote, let depth): return readDoctype(quote, depth, text, isLast: isLast)
        case .commentStart, .commentStartDash, .comment, .commentEndDash, .commentEnd, .commentEndBang:
            readComment(text)
        case .tagName, .beforeAttributeName, .attributeName, .afterAttributeName, .beforeValue, .value, .afterValue,
            .selfClosing:
            readTag(text, &output)
        }
        return true
    }

    /// The first byte that is needed again.
    ///
    /// A value that is too long is given up.
    private mutating func firstKept() -> Int {
        var first = index
        if let start = tag.valueStart {
            if index - start > limit { tag.valueStart = nil } else { first = min(first, start) }
        }
        if let content = tag.content {
            if index - content.range.lowerBound > limit {
                tag.content = nil
            } else {
                first = min(first, content.range.lowerBound)
            }
        }
        if let style { first = min(first, style.firstKept(index)) }
        return first
    }

    private mutating func shift(by count: Int) {
        index -= count
        tag.valueStart = tag.valueStart.map { $0 - count }
        if let content = tag.content {
            let range = content.range
            tag.content = ((range.lowerBound - count)..<(range.upperBound - count), content.isQuoted)
        }
        style?.shift(by: count)
    }

    /// Reads up to a byte and past it, and then goes on with data.
    mutating func skip(past byte: UInt8, _ text: UnsafeBufferPointer<UInt8>) {
        guard let end = text.first(byte, from: index, to: text.count) else { return index = text.count }
        index = end + 1
        state = .data
    }
}

extension PageScanner {
    /// Reads in a tag until the state changes (HTML §13.2.5.8, §13.2.5.32 to §13.2.5.40).
    private mutating func readTag(_ text: UnsafeBufferPointer<UInt8>, _ output: inout RewrittenText) {
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
            let encoding = CharacterReferences.decoded(text, range).bytes.map(\.lowercased)
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
        let value = CharacterReferences.decoded(text, range).bytes.map(\.lowercased)
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

/// The open elements of SVG and MathML, in which tags and text are read in another way than in HTML
/// (HTML §13.2.6.5).
///
/// Only these elements are followed, not those of HTML around and within them, so that it is decided without building
/// a tree which rules hold.
struct ForeignContent {
    private struct Open {
        let name: ShortName
        /// Whether the content is HTML, as in `foreignObject`.
        let isHTML: Bool
    }

    /// Elements that are nested deeper are not followed.
    private static let maximumDepth = 256

    private var open: [Open] = []

    /// Whether the next tag is read by the rules of SVG and MathML.
    var isForeign: Bool { open.last.map { !$0.isHTML } ?? false }

    /// Takes a start tag.
    ///
    /// - Parameters:
    ///   - name: The name of the tag.
    ///   - element: The element of this name.
    ///   - isEmpty: Whether the tag ends with `/>`.
    ///   - breaksOut: Whether the tag ends SVG and MathML before it.
    ///   - hasHTML: Whether the content of an `annotation-xml` is HTML.
    /// - Returns: Whether the element is one of SVG or MathML.
    mutating func start(_ name: ShortName, _ element: Element, isEmpty: Bool, breaksOut: Bool, hasHTML: Bool) -> Bool {
        if isForeign, breaksOut { end() }
        guard isForeign || element == .svg || element == .math else { return false }
        if !isEmpty, open.count < Self.maximumDepth {
            let isHTML =
                switch element {
                case .integrationPoint, .title: true
                case .annotation: hasHTML
                default: false
                }
            open.append(Open(name: name, isHTML: isHTML))
        }
        return true
    }

    /// Takes an end tag.
    mutating func end(_ name: ShortName, _ element: Element) {
        guard !open.isEmpty else { return }
        if let index = open.lastIndex(where: { $0.name == name }) {
            open.removeSubrange(index...)
        } else if isForeign, element == .breakout || Self.enclosing.contains(name) {
            end()
        }
    }

    /// Ends all elements up to those with HTML as their content.
    private mutating func end() {
        while let last = open.last, !last.isHTML { open.removeLast() }
    }

    /// More elements of HTML in whose end tags SVG and MathML end.
    private static let enclosing: Set<ShortName> = [
        ShortName("a"), ShortName("article"), ShortName("aside"), ShortName("button"), ShortName("figure"),
        ShortName("footer"), ShortName("form"), ShortName("header"), ShortName("html"), ShortName("label"),
        ShortName("main"), ShortName("nav"), ShortName("section"), ShortName("td"), ShortName("th"), ShortName("tr"),
    ]
}
#endif
