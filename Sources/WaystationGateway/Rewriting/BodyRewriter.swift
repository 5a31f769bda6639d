#if Gateway
import HTTPTypes
import NIOHTTP1
import WaystationHTTP

/// Rewrites the links of a page or a style sheet while it passes.
struct BodyRewriter: Sendable {
    /// The kinds of bodies that have links.
    enum Kind: Equatable, Sendable {
        /// HTML, or XHTML and SVG.
        case page(PageScanner.Syntax)
        case styleSheet

        /// The kind of a body; nil if the gateway does not change it.
        ///
        /// - Parameter contentType: The value of `Content-Type`.
        init?(contentType: String) {
            let type = ParameterizedValue(contentType)
            // Browsers read the name of an encoding also behind a quotation mark that is not closed.
            let charset = type["charset"].map { String($0.lowercased().drop { $0 == "\"" }) }
            guard charset.map({ !Self.otherCharsets.contains($0) }) ?? true else { return nil }
            switch type.value {
            case "text/html": self = .page(.html)
            case "application/xhtml+xml", "image/svg+xml": self = .page(.xml)
            case "text/css": self = .styleSheet
            default: return nil
            }
        }

        /// Encodings in which the bytes of ASCII do not always stand for ASCII.
        private static let otherCharsets: Set<String> = [
            "utf-16", "utf-16le", "utf-16be", "unicode", "ucs-2", "iso-10646-ucs-2", "csunicode", "unicodefeff",
            "unicodefffe", "iso-2022-jp", "csiso2022jp",
        ]
    }

    /// The length in bytes from which on a URL or a value stays as it is.
    static let limit = 64 << 10

    private let kind: Kind
    private let links: Links
    private let limit: Int
    /// The first bytes, until they are known to be no byte order mark; nil afterwards.
    private var start: [UInt8]? = []
    // At most one of these is set, so that its bytes are changed in place.
    private var page: StreamRewriter<PageScanner>?
    private var styleSheet: StreamRewriter<StyleSheetScanner>?

    /// Makes the rewriter of a body.
    ///
    /// - Parameters:
    ///   - kind: The kind of the body.
    ///   - links: The URLs to replace.
    ///   - limit: The length in bytes from which on a URL or a value stays as it is.
    init(_ kind: Kind, _ links: Links, limit: Int = Self.limit) {
        self.kind = kind
        self.links = links
        self.limit = limit
    }

    /// Takes the next part of the body.
    ///
    /// - Parameter part: The part.
    /// - Returns: The bytes to pass on.
    mutating func append(_ part: some Collection<UInt8>) -> [UInt8] {
        guard let start else { return rewritten(part) }
        let first = start + part
        guard first.count >= 2 else {
            self.start = first
            return []
        }
        begin(first)
        return rewritten(first)
    }

    /// Takes the end of the body.
    ///
    /// - Returns: The rest of the bytes to pass on.
    mutating func finish() -> [UInt8] {
        var rest: [UInt8] = []
        if let start {
            begin(start)
            rest = rewritten(start)
        }
        return rest + (page?.finish() ?? styleSheet?.finish() ?? [])
    }

    private mutating func begin(_ first: [UInt8]) {
        start = nil
        // UTF-16, by its byte order mark (Encoding Standard §6).
        if first.starts(with: [0xfe, 0xff]) || first.starts(with: [0xff, 0xfe]) { return }
        switch kind {
        case .page(let syntax): page = StreamRewriter(PageScanner(syntax, links, limit: limit))
        case .styleSheet: styleSheet = StreamRewriter(StyleSheetScanner(links, limit: limit))
        }
    }

    private mutating func rewritten(_ part: some Collection<UInt8>) -> [UInt8] {
        page?.append(part) ?? styleSheet?.append(part) ?? Array(part)
    }
}

/// Rewrites the links of a style sheet.
struct StyleSheetScanner: LinkScanner {
    private var scanner: StyleScanner
    private var index = 0

    init(_ links: Links, limit: Int) { scanner = StyleScanner(links, limit: limit) }

    mutating func scan(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool, _ output: inout RewrittenText) -> Int {
        var edits: [Links.Edit] = []
        scanner.scan(text, &index, to: text.count, isLast: isLast, &edits)
        for edit in edits { output.apply(edit, to: text) }
        let count = scanner.firstKept(index)
        scanner.shift(by: count)
        index -= count
        return count
    }
}

/// Finds the links in a text that arrives in parts.
protocol LinkScanner: Sendable {
    /// Looks at bytes, and applies edits.
    ///
    /// - Parameters:
    ///   - text: The bytes that were kept of the call before, and those that have arrived since.
    ///   - isLast: Whether no more bytes follow.
    ///   - output: Takes the edits.
    /// - Returns: The number of bytes that are not needed again; the next call gets the others once more.
    mutating func scan(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool, _ output: inout RewrittenText) -> Int
}

/// Rewrites the links of a body part by part.
///
/// The result does not depend on how the body is split. Bytes are held back only within a URL, or where a few more
/// decide what they are.
struct StreamRewriter<Scanner: LinkScanner>: Sendable {
    private var scanner: Scanner
    private var kept: [UInt8] = []

    init(_ scanner: Scanner) { self.scanner = scanner }

    /// Takes the next part.
    ///
    /// - Returns: The bytes to pass on.
    mutating func append(_ part: some Collection<UInt8>) -> [UInt8] {
        kept.append(contentsOf: part)
        return scan(isLast: false)
    }

    /// Takes the end of the body.
    ///
    /// - Returns: The rest of the bytes to pass on.
    mutating func finish() -> [UInt8] { scan(isLast: true) }

    private mutating func scan(isLast: Bool) -> [UInt8] {
        let text = kept
        var output = RewrittenText()
        let end = text.withUnsafeBufferPointer { text in
            let end = scanner.scan(text, isLast: isLast, &output)
            output.pass(to: isLast ? text.count : end, of: text)
            return isLast ? text.count : end
        }
        // A long URL that arrives byte by byte is not copied each time.
        if end > 0 { kept = Array(text[end...]) }
        return output.bytes
    }
}

/// Decides whose bodies get their links rewritten, and what this changes in the fields of a request and a response.
struct ResponseRewriting: Sendable {
    let names: LocalNames
    /// Whether a rule takes a URL.
    let isServed: @Sendable (String) -> Bool

    /// The rewriter of a response's body; nil if the body stays as it is.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - fields: The fields.
    ///   - origin: The origin of the page.
    /// - Returns: The rewriter, at the start of the body.
    func rewriter(status: Int, _ fields: HTTPHeaders, of origin: OriginName) -> BodyRewriter? {
        // A part of a body can begin in the middle of a tag (206).
        guard ![204, 206, 304].contains(status), !Self.isDownload(fields), !Self.forbidsTransforming(fields),
            // The bytes are those of a content coding.
            !fields.contains(name: "Content-Encoding"),
            let type = fields.first(name: "Content-Type"), let kind = BodyRewriter.Kind(contentType: type)
        else { return nil }
        return BodyRewriter(kind, Links(names: names, scheme: origin.scheme, page: origin, isServed: isServed))
    }

    private static func isDownload(_ fields: HTTPHeaders) -> Bool {
        fields.first(name: "Content-Disposition")?.lowercased().hasPrefix("attachment") ?? false
    }

    /// Whether the origin asks for its bytes to stay as they are (RFC 9111 §5.2.2.6).
    private static func forbidsTransforming(_ fields: HTTPHeaders) -> Bool {
        var lines = HTTPFields()
        for line in fields["Cache-Control"] { lines.append(HTTPField(name: .cacheControl, value: line)) }
        return CacheControl(lines).noTransform
    }

    /// The fields that describe the bytes of the origin: their digests, and their validators.
    ///
    /// Two responses with the same validator have the same bytes, or bytes of the same meaning (RFC 9110 §8.8.1). The
    /// rewritten bytes also depend on the rules and on the gateway's port, which no validator of the origin includes.
    private static let dropped = [
        "ETag", "Last-Modified", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges",
    ]

    /// Makes the fields fit a rewritten body.
    static func adapt(_ fields: inout HTTPHeaders) {
        for name in dropped { fields.remove(name: name) }
        fields.add(name: "Accept-Ranges", value: "none")
    }

    /// The fields by which a browser asks whether its copy of a page or a style sheet is still right, in lower case.
    ///
    /// A copy with these validators is one from before the links were rewritten.
    static func conditions(of request: HTTPRequestHead) -> Set<String> {
        guard let destination = request.headers.first(name: "Sec-Fetch-Dest"), destinations.contains(destination) else {
            return []
        }
        return ["if-none-match", "if-modified-since"]
    }

    private static let destinations: Set<String> = ["document", "iframe", "frame", "object", "embed", "style"]
}

/// The bytes that are passed on of those that were scanned: the same ones, but for the edits.
struct RewrittenText {
    private(set) var bytes: [UInt8] = []
    /// The number of scanned bytes that were passed on or replaced.
    private var passed = 0

    /// Replaces the bytes of one edit; call it with the edits in the order of their places in the text.
    mutating func apply(_ edit: Links.Edit, to text: UnsafeBufferPointer<UInt8>) {
        guard edit.range.lowerBound >= passed else { return }
        pass(to: edit.range.lowerBound, of: text)
        bytes += edit.text
        passed = edit.range.upperBound
    }

    /// Passes on the bytes before a place.
    mutating func pass(to place: Int, of text: UnsafeBufferPointer<UInt8>) {
        guard place > passed else { return }
        bytes += text[passed..<place]
        passed = place
    }
}

/// A decoded text, with the place of each of its bytes in the text that it was decoded from.
///
/// A URL is found in the decoded text of an attribute or of a CSS token, but replaced in the text as it was sent.
struct MappedBytes {
    private(set) var bytes: [UInt8]
    /// The place of each decoded byte in the text as it was sent, and one more for the end; nil if decoding changed
    /// nothing, so that the places count up from `offset`.
    private var places: [Int]?
    private let offset: Int

    /// A text that needs no decoding.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - offset: The place of its first byte.
    init(_ bytes: some Sequence<UInt8>, at offset: Int) {
        self.bytes = Array(bytes)
        self.offset = offset
    }

    /// An empty text, to which decoded bytes are appended.
    init(capacity: Int) {
        bytes = []
        bytes.reserveCapacity(capacity)
        places = []
        places?.reserveCapacity(capacity + 1)
        offset = 0
    }

    /// Appends a byte that was decoded from the text at a place.
    mutating func append(_ byte: UInt8, at place: Int) {
        bytes.append(byte)
        places?.append(place)
    }

    /// Appends the UTF-8 form of a character that was decoded from the text at a place.
    mutating func append(_ scalar: Unicode.Scalar, at place: Int) {
        for byte in Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter { append(byte, at: place) }
    }

    /// Sets the place after the last byte.
    mutating func end(at place: Int) { places?.append(place) }

    /// The place of a byte, or of the end for the number of bytes.
    func place(_ index: Int) -> Int { places?[index] ?? offset + index }

    /// The places of a range of bytes.
    func places(_ range: Range<Int>) -> Range<Int> { place(range.lowerBound)..<place(range.upperBound) }

    /// A part of the text without some of its bytes.
    func filtered(_ range: Range<Int>, _ isKept: (UInt8) -> Bool) -> MappedBytes {
        var kept = MappedBytes(capacity: range.count)
        for index in range where isKept(bytes[index]) { kept.append(bytes[index], at: place(index)) }
        kept.end(at: place(range.upperBound))
        return kept
    }
}
#endif
