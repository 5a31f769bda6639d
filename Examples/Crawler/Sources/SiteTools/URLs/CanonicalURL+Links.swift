public import WaystationHTTP

extension CanonicalURL {
    /// Reads the absolute http(s) URL of a page or of one of its parts, without credentials.
    ///
    /// Nil for any other scheme and for an invalid URL. A dot at the end of the host is removed: sites that answer under
    /// both names are crawled once. Characters of the query that browsers send as they are, but RFC 3986 does not allow,
    /// are percent-encoded, as a gateway loads them.
    public init?(page text: String) {
        guard let url = CanonicalURL(Self.cleaned(text)), ["http", "https"].contains(url.scheme) else { return nil }
        let host = url.host.hasSuffix(".") ? url.host.dropLast() : url.host
        guard !host.isEmpty else { return nil }
        let query = PercentEncoding.validQuery(url.query)
        guard url.userInfo != nil || host != url.host || query != nil else {
            self = url
            return
        }
        let port = url.port.map { ":\($0)" } ?? ""
        let pathAndQuery = query.map { "\(url.path)?\($0)" } ?? url.pathAndQuery
        self.init("\(url.scheme)://\(host)\(port)\(pathAndQuery)")
    }

    /// Resolves a reference of a document as browsers do (WHATWG URL): white space around it and line breaks in it are
    /// removed, backslashes count as slashes, and `http:page.html` is relative to a base of the same scheme.
    ///
    /// Nil for other schemes (`data:`, `mailto:` …).
    public init?(_ reference: String, relativeTo base: CanonicalURL) {
        self.init(reference, relativeTo: base, encoding: .utf8)
    }

    /// Resolves a reference whose query is sent in the encoding of the document; all other parts are sent in UTF-8.
    init?(_ reference: String, relativeTo base: CanonicalURL, encoding: WebEncoding) {
        var text = Self.cleaned(reference)
        if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")),
            let query = encoding.percentEncodedQuery(text[text.utf8.index(after: mark)...])
        {
            text = "\(text[...mark])\(query)"
        }
        let scheme = "\(base.scheme):"
        if text.lowercased().hasPrefix(scheme), !text.dropFirst(scheme.count).hasPrefix("/") {
            text.removeFirst(scheme.count)
        }
        guard let url = base.resolving(text) else { return nil }
        self.init(page: url.string)
    }

    /// Path and query as they are sent.
    public var pathAndQuery: String { "\(path)" + (query.map { "?\($0)" } ?? "") }

    /// The path up to and including its last `/`.
    public var directory: Substring { path.lastIndex(of: "/").map { path[...$0] } ?? "/" }

    /// The text without white space around it, without tabs and line breaks in it, without its fragment, and with slashes
    /// in place of backslashes before the query.
    private static func cleaned(_ text: String) -> String {
        let bytes = text.utf8.prefix { $0 != UInt8(ascii: "#") }.drop { $0 <= 0x20 }
        let end = bytes.lastIndex { $0 > 0x20 }.map(bytes.index(after:)) ?? bytes.startIndex
        let inner = bytes[..<end].filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        let query = inner.firstIndex(of: UInt8(ascii: "?")) ?? inner.endIndex
        let path = inner[..<query].map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
        return String(decoding: path + inner[query...], as: UTF8.self)
    }
}
