/// An absolute URL in canonical form, so that two spellings of one address are the same value.
///
/// The form is that of RFC 3986 §6.2.2 and §6.2.3:
/// - scheme and host in lower case, a host in other scripts as Punycode (see below), IPv4 and IPv6 addresses in their
///   usual notation (`http://0x7f.1/` is `http://127.0.0.1/`, `[0:0::1]` is `[::1]`);
/// - no default port (80 for `http` and `ws`, 443 for `https` and `wss`, 21 for `ftp`), no leading zeros in a port;
/// - in the path, no dot segments in any spelling (`%2e%2e` is `..`), unreserved characters decoded, other
///   percent-encodings in upper case and never decoded (`%2F` stays), an empty path written `/`;
/// - characters that a URL may not contain (a space, `"`, letters outside ASCII, …) percent-encoded; a `%` in the path
///   that begins no percent-encoding becomes `%25`, so that canonicalising twice changes nothing;
/// - the query byte for byte as it was, never reordered, except that a space, `"`, `<`, `>` and non-ASCII characters
///   are percent-encoded;
/// - no fragment: it never reaches a server.
///
/// User information stays in ``string``, since it changes the request, but is not part of ``host`` or ``origin``. Empty
/// user information (`http://@host/`) is dropped.
///
/// A dot at the end of a host stays too: `shop.example.` and `shop.example` are different origins, as in browsers.
///
/// Hosts in other scripts are lower-cased and encoded by RFC 3492. That is not the whole of UTS 46: a host with
/// characters that its tables would map (full-width letters, ligatures, base letters with a separate accent) is
/// refused, since encoding it would give a name that is not registered.
///
/// A `CanonicalURL` stores its text and a few offsets; making one from text that is already canonical copies nothing.
public struct CanonicalURL: Sendable {
    /// The whole URL, always ASCII and without fragment.
    public let string: String

    let layout: URLLayout

    /// Reads an absolute URL with an authority (`scheme://…`).
    ///
    /// Returns `nil` for any other text: a relative reference, an opaque URL such as `mailto:a@b`, an `http`, `https`,
    /// `ws`, `wss` or `ftp` URL without a host, or an impossible host or port. Control characters anywhere, a backslash
    /// or a second `@` in the authority, and empty labels in a host are also refused, because programs disagree about
    /// their meaning. Other schemes may have an empty host (`app:///index.html`).
    public init?(_ string: String) {
        if let layout = string.withUTF8Bytes({ URLLayout(ofCanonical: $0) }) {
            self.init(string: string, layout: layout)
            return
        }
        guard let (bytes, layout) = URLCanonicalizer.canonicalize(Array(string.utf8)) else { return nil }
        self.init(string: String(decoding: bytes, as: UTF8.self), layout: layout)
    }

    init(string: String, layout: URLLayout) {
        self.string = string
        self.layout = layout
    }

    /// The scheme in lower case, without its colon.
    public var scheme: Substring { text(0, layout.schemeEnd) }

    /// The user information before `@`, as it was written, or `nil` if the URL has no user information.
    public var userInfo: Substring? {
        let start = layout.schemeEnd + 3
        return start < layout.hostStart ? text(start, layout.hostStart - 1) : nil
    }

    /// The host in lower case, IPv6 addresses in their brackets; empty only for schemes that have no host.
    public var host: Substring { text(layout.hostStart, layout.hostEnd) }

    /// The port in the URL, or `nil` when the URL has no port or the scheme's default one.
    public var port: Int? { layout.port.map(Int.init) }

    /// The port to connect to: ``port``, or else the scheme's default one; `nil` when there is neither.
    public var effectivePort: Int? {
        port ?? string.withUTF8Bytes { KnownScheme($0[0..<Int(layout.schemeEnd)])?.defaultPort }
    }

    /// The path, which always begins with `/`.
    public var path: Substring { text(layout.pathStart, layout.pathEnd) }

    /// The query without its `?`, or `nil` if the URL has no query; `http://a/?` has an empty query.
    public var query: Substring? {
        let utf8 = string.utf8
        let end = utf8.index(utf8.startIndex, offsetBy: Int(layout.pathEnd))
        return end == utf8.endIndex ? nil : string[utf8.index(after: end)...]
    }

    /// Scheme, host and port: `https://shop.example`, `http://localhost:8080`.
    ///
    /// Two URLs have the same origin (RFC 6454 §4) exactly when this text is the same.
    public var origin: String {
        if layout.hostStart == layout.schemeEnd + 3 { return String(text(0, layout.pathStart)) }
        return "\(scheme)://\(text(layout.hostStart, layout.pathStart))"
    }

    /// User information, host and port, as the URL has them (RFC 3986 §3.2).
    package var authority: Substring { text(layout.schemeEnd + 3, layout.pathStart) }

    /// The path, and the query with its `?`: everything after the authority.
    package var pathAndQuery: Substring { string[path.startIndex...] }

    /// The URL without user information.
    ///
    /// - Complexity: O(1) if it has none.
    package var withoutUserInfo: String {
        let start = layout.schemeEnd + 3
        return start < layout.hostStart ? "\(text(0, start))\(string[host.startIndex...])" : string
    }

    /// The parts of the path between slashes: `/a/b/` has `a`, `b` and an empty one; `/` has only an empty one.
    ///
    /// - Complexity: O(length of the path), with one array allocated.
    public var pathSegments: [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }

    private func text(_ start: Int32, _ end: Int32) -> Substring {
        let utf8 = string.utf8
        let lower = utf8.index(utf8.startIndex, offsetBy: Int(start))
        let upper = utf8.index(utf8.startIndex, offsetBy: Int(end))
        return string[lower..<upper]
    }
}

extension CanonicalURL: Hashable {
    /// Whether both URLs have the same text.
    public static func == (left: CanonicalURL, right: CanonicalURL) -> Bool { left.string == right.string }

    /// Hashes the text; the offsets follow from it.
    public func hash(into hasher: inout Hasher) { hasher.combine(string) }
}

extension CanonicalURL: CustomStringConvertible {
    /// The same as ``string``.
    public var description: String { string }
}

extension CanonicalURL {
    /// The host that a text consists of, in the spelling of ``host``; nil if the text has other parts than a host.
    ///
    /// An IPv6 address may lack its brackets.
    package static func host(_ text: String) -> String? {
        let isBareAddress = text.utf8.count { $0 == UInt8(ascii: ":") } > 1 && !text.hasPrefix("[")
        let authority = isBareAddress ? "[\(text)]" : text
        // The URL below would leave out the standard port, empty user information, dot segments and a fragment.
        let name = authority.hasPrefix("[") ? authority.drop { $0 != "]" } : authority[...]
        guard !name.contains(where: ":@/#".contains) else { return nil }
        guard let url = CanonicalURL("http://\(authority)/"), url.string == "http://\(url.host)/" else { return nil }
        return String(url.host)
    }
}

extension CanonicalURL {
    /// The URL that a reference stands for in a document, or in a `Location` field, of this URL.
    ///
    /// Resolves by RFC 3986 §5.2 in its strict form, then canonicalises; fragments are dropped. Returns `nil` when the
    /// result is not an absolute URL that ``init(_:)`` reads: `mailto:a@b`, `http:no-authority`, control characters.
    public func resolving(_ reference: String) -> CanonicalURL? {
        let bytes = reference.utf8
        guard let first = bytes.first(where: { !$0.isSchemeCharacter }) else {
            return bytes.isEmpty ? self : merging(reference)
        }
        if first == UInt8(ascii: ":"), bytes.first != first { return CanonicalURL(reference) }
        if reference.hasPrefix("//") { return CanonicalURL("\(scheme):\(reference)") }
        switch bytes.first {
        case UInt8(ascii: "/"): return CanonicalURL(authorityPrefix + reference)
        case UInt8(ascii: "?"): return CanonicalURL(authorityPrefix + path + reference)
        // A reference that is only a fragment keeps the query (§5.2.2); the fragment is still checked.
        case UInt8(ascii: "#"): return CanonicalURL(string + reference)
        default: return merging(reference)
        }
    }

    /// Merges by RFC 3986 §5.2.3: the reference replaces the text after the last slash of the path.
    private func merging(_ reference: String) -> CanonicalURL? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        return CanonicalURL(authorityPrefix + path[...slash] + reference)
    }

    /// Everything before the path, including user information.
    private var authorityPrefix: String { String(string[..<path.startIndex]) }
}

extension CanonicalURL {
    /// The same URL without needless escapes: each character of the path that a segment may contain as it is stands for
    /// itself, so that `/%40scope/a%2Bb.js` is `/@scope/a+b.js`.
    ///
    /// Browsers and other clients write such characters in either way, and a server may treat the two as different
    /// (RFC 3986 §2.2). A request is therefore sent and stored with the URL that it has, and this form is only compared:
    /// with the patterns of rules, and with the names of files, which are the same for both spellings. If they were
    /// compared in different forms, one spelling of a file's URL would get past the rule that blocks the other.
    ///
    /// - Complexity: O(1) for a URL without needless escapes.
    package var plain: CanonicalURL {
        guard layout.hasNeedlessEscapes else { return self }
        return string.withUTF8Bytes { bytes in
            var text = Array(bytes[..<Int(layout.pathStart)])
            text.reserveCapacity(bytes.count)
            var index = Int(layout.pathStart)
            while index < layout.pathEnd {
                if let decoded = percentDecodedByte(bytes, at: index, end: Int(layout.pathEnd)),
                    ByteSet.segment.contains(decoded)
                {
                    text.append(decoded)
                    index += 3
                } else {
                    text.append(bytes[index])
                    index += 1
                }
            }
            var layout = layout
            layout.pathEnd = Int32(text.count)
            layout.hasNeedlessEscapes = false
            text.append(contentsOf: bytes[index...])
            return CanonicalURL(string: String(decoding: text, as: UTF8.self), layout: layout)
        }
    }
}
