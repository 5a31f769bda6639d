/// A set of URLs written like one: `https://shop.example/app/**`.
///
/// ```
/// scheme://host[:port][/path][?query]
/// ```
/// - **scheme**: as in a URL, or `*` for `http` and `https`. `ws`, `wss`, `ftp`, `file`, `data` are refused, since their
///   loads are left to Foundation.
/// - **host**: a name, an IPv4 address, an IPv6 address in brackets; `*.example.com` is every sub-domain at any depth
///   but not `example.com` itself, `**.example.com` is both, `*` is every host. A host without a star is that host only.
/// - **port**: none means the default port of the scheme, `:8080` that port, `:*` any port.
/// - **path**: `*` is any run of characters within a segment, also an empty one; `**` alone in a segment is any number
///   of segments, also none, so that `/app/**` takes `/app`, `/app/` and `/app/a/b`. No path means `/`. Letter case
///   counts. At most 256 segments.
/// - **query**: none means any query. `?name=value&other=*&flag` means that these items are there, among others and in
///   any order; `*` and a name alone take any value. Names and values are compared after percent-decoding; `+` is `+`.
///
/// Path and host are brought into the form of ``CanonicalURL`` first, so that a pattern takes every spelling of a URL;
/// user information in a URL never matters. What is not understood is refused with the place and what was expected.
public struct URLPattern: Sendable {
    enum Scheme: Sendable, Hashable {
        case web
        case named(String)
    }

    enum Host: Sendable, Hashable {
        case any
        case exact(String)
        case subdomains(of: String)
        case domain(String)
    }

    enum Port: Sendable, Hashable {
        case standard
        case any
        case exact(Int)
    }

    /// The pattern as it was written.
    public let text: String

    let scheme: Scheme
    let host: Host
    let port: Port
    let path: [PathSegmentPattern]
    let query: [QueryCondition]

    /// Reads a pattern.
    ///
    /// - Throws: ``URLPatternError`` with the place that was not understood and what was expected there.
    public init(_ text: String) throws(URLPatternError) {
        var parser = URLPatternParser(text)
        self.text = text
        scheme = try parser.parseScheme()
        host = try parser.parseHost(of: scheme)
        port = try parser.parsePort(of: scheme)
        path = try parser.parsePath()
        query = try parser.parseQuery()
    }

    /// Whether the URL is in the set.
    ///
    /// For one pattern and one URL; a ``RuleTable`` answers the same for thousands of patterns at once.
    public func matches(_ url: CanonicalURL) -> Bool {
        takesScheme(of: url) && takesPort(of: url) && takesHost(of: url) && takesPath(of: url)
            && query.allSatisfy { $0.isMet(by: url) }
    }
}

extension URLPattern: Hashable {
    /// Whether both take the same URLs for the same reason: `https://A.example/%61` equals `https://a.example/a`.
    public static func == (left: URLPattern, right: URLPattern) -> Bool {
        left.scheme == right.scheme && left.host == right.host && left.port == right.port && left.path == right.path
            && left.query == right.query
    }

    /// Feeds the canonical parts to the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(path)
        hasher.combine(query)
    }
}

extension URLPattern: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }
}
