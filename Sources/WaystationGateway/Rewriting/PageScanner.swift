#if Gateway
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
#endif
