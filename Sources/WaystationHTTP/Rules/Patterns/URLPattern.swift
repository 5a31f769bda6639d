/// A set of URLs, written like a URL: `https://shop.example/app/**`.
///
/// ```
/// scheme://host[:port][/path][?query]
/// ```
/// - **scheme**: as in a URL, or `*` for `http` and `https`. `ws`, `wss`, `ftp`, `file`, `data` are refused, since their
///   loads are left to Foundation.
/// - **host**: a name, an IPv4 address, an IPv6 address in brackets; `*.example.com` matches every sub-domain at any
///   depth but not `example.com` itself, `**.example.com` matches both, `*` matches every host. A host without a star
///   matches only that host.
/// - **port**: without one, the default port of the scheme; `:8080` matches that port, `:*` any port.
/// - **path**: `*` matches any run of characters within a segment, also an empty one; `**` alone in a segment matches
///   any number of segments, also none, so that `/app/**` matches `/app`, `/app/` and `/app/a/b`. No path means `/`.
///   Letter case counts. A pattern has at most 256 segments.
/// - **query**: without one, any query matches. `?name=value&other=*&flag` means that the URL has these items, among
///   others and in any order; `*`, or a name alone, matches any value. Names and values are compared after
///   percent-decoding; `+` is `+`.
///
/// Path and host are first brought into the form of ``CanonicalURL``, so that a pattern matches every spelling of a
/// URL; user information in a URL does not matter. In paths, `%40` also equals `@`, and each other character that a path
/// may contain equals its percent-encoding; `%2A` is the character `*` itself. An invalid pattern is refused with an
/// error that gives the position and what was expected there.
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
    /// - Throws: ``URLPatternError`` with the position of the error and what was expected there.
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
    /// This checks one pattern and one URL; a ``RuleTable`` checks thousands of patterns at once.
    public func matches(_ url: CanonicalURL) -> Bool {
        takesScheme(of: url) && takesPort(of: url) && takesHost(of: url) && takesPath(of: url)
            && query.allSatisfy { $0.isMet(by: url) }
    }
}

extension URLPattern: Hashable {
    /// Whether both patterns have equal parts in canonical form: `https://A.example/%61` equals `https://a.example/a`.
    public static func == (left: URLPattern, right: URLPattern) -> Bool {
        left.scheme == right.scheme && left.host == right.host && left.port == right.port && left.path == right.path
            && left.query == right.query
    }

    /// Hashes the canonical parts.
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

/// Matches each part of a pattern on its own, for explanations and for ``URLPattern/matches(_:)``.
extension URLPattern {
    /// The scheme when it is neither `http` nor `https`; otherwise nil.
    package var schemeBesideHTTP: String? {
        guard case .named(let name) = scheme, name != "http", name != "https" else { return nil }
        return name
    }

    /// Whether the pattern takes URLs of the scheme `https`.
    package var takesHTTPS: Bool { scheme == .web || scheme == .named("https") }

    /// The host in canonical form, or the domain in which the hosts are; nil for every host.
    package var domain: String? {
        switch host {
        case .any: nil
        case .exact(let name), .subdomains(let name), .domain(let name): name
        }
    }

    /// The end of scheme, host and port in ``text``.
    var authorityEnd: String.Index {
        // The parser has found `://` after the scheme.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return text.endIndex }
        return text.utf8[colon...].dropFirst(3).firstIndex(where: URLCanonicalizer.isAuthorityEnd) ?? text.endIndex
    }

    func takesScheme(of url: CanonicalURL) -> Bool {
        switch scheme {
        case .web: url.scheme == "http" || url.scheme == "https"
        case .named(let name): url.scheme == name
        }
    }

    func takesPort(of url: CanonicalURL) -> Bool {
        switch port {
        case .any: true
        case .standard: url.port == nil
        case .exact(let number): url.effectivePort == number
        }
    }

    func takesHost(of url: CanonicalURL) -> Bool {
        let found = url.host
        return switch host {
        case .any: true
        case .exact(let name): found == name
        case .subdomains(let name): Self.isSubdomain(found, of: name)
        case .domain(let name): found == name || Self.isSubdomain(found, of: name)
        }
    }

    func takesPath(of url: CanonicalURL) -> Bool {
        let url = url.plain
        return url.string.withUTF8Bytes { bytes in
            PathSegmentPattern.matches(path[...], bytes, from: Int(url.layout.pathStart), to: Int(url.layout.pathEnd))
        }
    }

    static func isSubdomain(_ host: Substring, of name: String) -> Bool {
        host.utf8.count > name.utf8.count + 1 && host.hasSuffix(name)
            && host.utf8.dropLast(name.utf8.count).last == UInt8(ascii: ".")
    }
}

extension URLPattern.Scheme: CustomStringConvertible {
    var description: String {
        switch self {
        case .web: "http or https"
        case .named(let name): name
        }
    }
}

extension URLPattern.Host: CustomStringConvertible {
    var description: String {
        switch self {
        case .any: "any host"
        case .exact(let name): name.isEmpty ? "an empty host" : name
        case .subdomains(let name): "a sub-domain of \(name)"
        case .domain(let name): "\(name) or a sub-domain of it"
        }
    }
}

extension URLPattern.Port: CustomStringConvertible {
    var description: String {
        switch self {
        case .any: "any port"
        case .standard: "the default port of the scheme"
        case .exact(let number): "\(number)"
        }
    }
}
