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

/// The offsets of the parts of a canonical URL in its UTF-8 bytes.
///
/// In `scheme://[userinfo@]host[:port]path[?query]`, the bytes between `schemeEnd + 3` and `hostStart` are the user
/// information with its `@`, and the bytes from `pathEnd` on are the query with its `?`.
struct URLLayout: Sendable {
    var schemeEnd: Int32
    var hostStart: Int32
    var hostEnd: Int32
    /// The port; nil when the URL has none.
    var port: UInt16?
    /// Whether the path has percent-encodings of characters that need none, such as `%40` for `@`.
    var hasNeedlessEscapes: Bool
    var pathStart: Int32
    var pathEnd: Int32
}

extension URLLayout {
    /// Reads bytes that are already canonical, in one pass.
    ///
    /// Returns `nil` when they are not canonical or are of a rare kind (user information, IPv6, no host), which
    /// ``URLCanonicalizer`` handles.
    init?(ofCanonical bytes: UnsafeBufferPointer<UInt8>) {
        let count = bytes.count
        guard count <= Int32.max else { return nil }

        var index = 0
        while index < count, bytes[index] != UInt8(ascii: ":") {
            let byte = bytes[index]
            let isLetter = byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
            guard isLetter || (index > 0 && Self.isSchemeTail(byte)) else { return nil }
            index += 1
        }
        let schemeEnd = index
        guard schemeEnd > 0, schemeEnd + 3 < count, bytes[schemeEnd + 1] == UInt8(ascii: "/"),
            bytes[schemeEnd + 2] == UInt8(ascii: "/")
        else { return nil }
        let scheme = KnownScheme(bytes[0..<schemeEnd])

        let hostStart = schemeEnd + 3
        guard let hostEnd = Self.endOfPlainHost(bytes, from: hostStart, isKnownScheme: scheme != nil) else {
            return nil
        }

        index = hostEnd
        var port: UInt16?
        if bytes[index] == UInt8(ascii: ":") {
            guard let (value, end) = Self.plainPort(bytes, from: index + 1), value != scheme?.defaultPort else {
                return nil
            }
            port = UInt16(value)
            index = end
        }
        guard index < count, bytes[index] == UInt8(ascii: "/") else { return nil }

        let pathStart = index
        guard let (pathEnd, hasNeedlessEscapes) = Self.endOfPlainPath(bytes, from: pathStart),
            Self.isPlainQuery(bytes, from: pathEnd)
        else { return nil }

        self.init(
            schemeEnd: Int32(schemeEnd),
            hostStart: Int32(hostStart),
            hostEnd: Int32(hostEnd),
            port: port,
            hasNeedlessEscapes: hasNeedlessEscapes,
            pathStart: Int32(pathStart),
            pathEnd: Int32(pathEnd)
        )
    }

    private static func isSchemeTail(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    /// The end of a host whose non-empty labels have only letters, digits, `-` and `_`, followed by `:` or `/`.
    private static func endOfPlainHost(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int,
        isKnownScheme: Bool
    ) -> Int? {
        var index = start
        var labelStart = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                break
            case UInt8(ascii: "."):
                guard index > labelStart else { return nil }
                labelStart = index + 1
            case UInt8(ascii: ":"), UInt8(ascii: "/"):
                guard index > labelStart else { return nil }
                if isKnownScheme, bytes[labelStart] <= UInt8(ascii: "9"), bytes[labelStart] >= UInt8(ascii: "0"),
                    !IPv4Address.isCanonical(bytes[start..<index])
                {
                    return nil
                }
                return index
            default:
                return nil
            }
            index += 1
        }
        return nil
    }

    /// A port in decimal without leading zeros, and its end.
    private static func plainPort(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> (value: Int, end: Int)? {
        var value = 0
        var index = start
        while index < bytes.count, let digit = bytes[index].decimalDigit {
            value = value * 10 + digit
            index += 1
            guard value <= 65535 else { return nil }
        }
        guard index > start, bytes[start] != UInt8(ascii: "0") || index == start + 1 else { return nil }
        return (value, index)
    }

    /// The end of a canonical path, at `?` or the end of the text, and whether the path has needless escapes.
    private static func endOfPlainPath(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int
    ) -> (end: Int, hasNeedlessEscapes: Bool)? {
        let plain = ByteSet.segment
        var hasNeedlessEscapes = false
        var index = start
        var isOnlyDots = false
        var segmentStart = start
        func isDotSegment() -> Bool { isOnlyDots && index - segmentStart <= 2 && index > segmentStart }
        while index < bytes.count {
            let byte = bytes[index]
            if plain.contains(byte) {
                if byte != UInt8(ascii: ".") { isOnlyDots = false }
                index += 1
            } else if byte == UInt8(ascii: "/") {
                guard !isDotSegment() else { return nil }
                index += 1
                segmentStart = index
                isOnlyDots = true
            } else if byte == UInt8(ascii: "%") {
                guard let decoded = percentDecodedByte(bytes, at: index, end: bytes.count),
                    !ByteSet.unreserved.contains(decoded), isUpperHexadecimal(bytes[index + 1]),
                    isUpperHexadecimal(bytes[index + 2])
                else { return nil }
                if plain.contains(decoded) { hasNeedlessEscapes = true }
                isOnlyDots = false
                index += 3
            } else if byte == UInt8(ascii: "?") {
                break
            } else {
                return nil
            }
        }
        return isDotSegment() ? nil : (index, hasNeedlessEscapes)
    }

    private static func isUpperHexadecimal(_ byte: UInt8) -> Bool { byte <= UInt8(ascii: "F") }

    /// Whether a query keeps every character from `?` on unencoded.
    private static func isPlainQuery(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
        let plain = ByteSet.query
        var index = start
        while index < bytes.count {
            guard plain.contains(bytes[index]) else { return false }
            index += 1
        }
        return true
    }
}

/// A set of ASCII bytes as two machine words, for the character classes of RFC 3986.
struct ByteSet: Sendable {
    private let low: UInt64
    private let high: UInt64

    private init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    init(_ characters: StaticString) {
        var low: UInt64 = 0
        var high: UInt64 = 0
        characters.withUTF8Buffer { bytes in
            for byte in bytes where byte < 128 {
                if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
            }
        }
        self.init(low: low, high: high)
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 64 == 0 ? low : high
        return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
    }

    func union(_ other: ByteSet) -> ByteSet { ByteSet(low: low | other.low, high: high | other.high) }
}

extension ByteSet {
    private static let lowerAlphanumeric = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789")
    static let alphanumeric = lowerAlphanumeric.union(ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))

    /// RFC 3986 §2.3.
    static let unreserved = alphanumeric.union(ByteSet("-._~"))

    /// RFC 3986 §2.2.
    private static let subDelimiters = ByteSet("!$&'()*+,;=")

    /// RFC 3986 §3.2.1, without percent-encodings.
    static let userInfo = unreserved.union(subDelimiters).union(ByteSet(":"))

    /// RFC 3986 §3.2.2 `reg-name` in lower case, without percent-encodings.
    static let host = lowerAlphanumeric.union(ByteSet("-._~")).union(subDelimiters)

    /// RFC 3986 §3.3 `pchar`, without percent-encodings.
    static let segment = unreserved.union(subDelimiters).union(ByteSet(":@"))

    /// The characters that a query keeps unencoded: every printable ASCII character except those of the WHATWG query
    /// percent-encode set.
    static let query = segment.union(ByteSet("/?%[]\\^`{|}"))
}

extension String {
    /// Calls `body` with the text's UTF-8 bytes in place; copies them only when the string is not native.
    @inline(__always)
    func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}

/// The bytes with every percent-encoding replaced by its byte.
func removingPercentEncoding(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
        if let byte = percentDecodedByte(bytes, at: index, end: bytes.endIndex) {
            decoded.append(byte)
            index += 3
        } else {
            decoded.append(bytes[index])
            index += 1
        }
    }
    return decoded
}
