#if Gateway
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
            let parts = contentType.lowercased().split(separator: ";", omittingEmptySubsequences: false)
                .map { $0.filter { !" \t\"".contains($0) } }
            let charset = parts.dropFirst().first { $0.hasPrefix("charset=") }?.dropFirst("charset=".count)
            guard charset.map({ !Self.otherCharsets.contains($0) }) ?? true else { return nil }
            switch parts.first {
            case "text/html": self = .page(.html)
            case "application/xhtml+xml", "image/svg+xml": self = .page(.xml)
            case "text/css": self = .styleSheet
            default: return nil
            }
        }

        /// Encodings in which the bytes of ASCII do not always stand for ASCII.
        private static let otherCharsets: Set<Substring> = [
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
#endif
