/// Parses the parts of a ``URLPattern`` from left to right.
struct URLPatternParser {
    /// Limits the depth of the tries, and so the stack that a walk through them uses, for patterns from any source.
    private static let segmentLimit = 256

    private let text: String
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    private func expected(_ what: String, at offset: Int) -> URLPatternError {
        URLPatternError(pattern: text, offset: offset, expected: what)
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    // MARK: - Scheme

    mutating func parseScheme() throws(URLPatternError) -> URLPattern.Scheme {
        let schemeExpected = "a scheme such as `https`, or `*` for http and https, then `://`"
        if let control = bytes.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw expected("no control characters", at: control)
        }
        let end: Int
        if bytes.first == UInt8(ascii: "*") {
            end = 1
        } else {
            guard let first = bytes.first, first >= UInt8(ascii: "A"), ByteSet.alphanumeric.contains(first) else {
                throw expected(schemeExpected, at: 0)
            }
            end = bytes.firstIndex { !$0.isSchemeCharacter } ?? bytes.count
        }
        guard bytes[end...].starts(with: Array("://".utf8)) else {
            throw expected("`://` after the scheme, as in `https://host/path`", at: end)
        }
        position = end + 3
        let name = string(0..<end).lowercased()
        switch name {
        case "*":
            return .web
        case "ws", "wss", "ftp", "file", "data":
            throw expected(
                "another scheme: interception of `\(name)` is left to Foundation, which loads it by itself",
                at: 0
            )
        case "http+https", "https+http":
            throw expected("`*` as the scheme that means http and https", at: 0)
        default:
            return .named(name)
        }
    }

    // MARK: - Host and port

    mutating func parseHost(of scheme: URLPattern.Scheme) throws(URLPatternError) -> URLPattern.Host {
        let start = position
        let authorityEnd = bytes[start...].firstIndex(where: URLCanonicalizer.isAuthorityEnd) ?? bytes.count
        if let at = bytes[start..<authorityEnd].firstIndex(of: UInt8(ascii: "@")) {
            throw expected("a host without user information, which patterns do not match", at: at)
        }
        if bytes[start..<authorityEnd].first == UInt8(ascii: "[") {
            guard let close = bytes[start..<authorityEnd].firstIndex(of: UInt8(ascii: "]")) else {
                throw expected("`]` after the IPv6 address", at: authorityEnd)
            }
            position = close + 1
        } else {
            position = bytes[start..<authorityEnd].firstIndex(of: UInt8(ascii: ":")) ?? authorityEnd
        }

        let host = bytes[start..<position]
        var nameStart = start
        var make: (String) -> URLPattern.Host = { .exact($0) }
        if host.elementsEqual("*".utf8) { return .any }
        if host.starts(with: "**.".utf8) {
            nameStart += 3
            make = { .domain($0) }
        } else if host.starts(with: "*.".utf8) {
            nameStart += 2
            make = { .subdomains(of: $0) }
        }
        let name = bytes[nameStart..<position]
        if let star = name.firstIndex(of: UInt8(ascii: "*")) {
            throw expected("`*` only as the whole host, or as `*.` or `**.` before a domain", at: star)
        }
        let isNumeric = scheme == .web || KnownScheme(scheme.description.utf8) != nil
        if name.isEmpty {
            guard !isNumeric, nameStart == start, position == authorityEnd else {
                throw expected("a host such as `shop.example`, `*.shop.example` or `*`", at: nameStart)
            }
            return .exact("")
        }
        guard let canonical = HostName.canonicalize(name, readsNumbersAsIPv4: isNumeric) else {
            throw expected("a valid host name or an IP address", at: nameStart)
        }
        let isAddress = isNumeric && IPv4Address(canonical) != nil || canonical.first == UInt8(ascii: "[")
        if nameStart > start, isAddress {
            throw expected("a domain after the star, since an IP address has no sub-domains", at: nameStart)
        }
        return make(String(decoding: canonical, as: UTF8.self))
    }

    mutating func parsePort(of scheme: URLPattern.Scheme) throws(URLPatternError) -> URLPattern.Port {
        guard position < bytes.count, !URLCanonicalizer.isAuthorityEnd(bytes[position]) else { return .standard }
        guard bytes[position] == UInt8(ascii: ":") else {
            throw expected("`:` and a port, or `/` and a path", at: position)
        }
        let start = position + 1
        position = bytes[start...].firstIndex(where: URLCanonicalizer.isAuthorityEnd) ?? bytes.count
        let digits = bytes[start..<position]
        if digits.elementsEqual("*".utf8) { return .any }
        guard !digits.isEmpty, let port = URLCanonicalizer.parsePort(digits) else {
            throw expected("a port from 0 to 65535, or `*` for any", at: start)
        }
        if case .named(let name) = scheme, KnownScheme(name.utf8)?.defaultPort == port { return .standard }
        return .exact(port)
    }

    // MARK: - Path

    mutating func parsePath() throws(URLPatternError) -> [PathSegmentPattern] {
        var segments: [PathSegmentPattern] = []
        let end = bytes[position...].firstIndex(where: URLCanonicalizer.isPathEnd) ?? bytes.count
        if position == end { return [.literal([])] }
        while position < end {
            let start = position + 1
            position = bytes[start..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
            let segment = try parseSegment(start..<position)

            var dots = 0
            if case .literal(let text) = segment { dots = PathNormalization.dotCount(text[...]) }
            if dots == 0 {
                guard segments.count < Self.segmentLimit else {
                    throw expected("at most \(Self.segmentLimit) path segments", at: start)
                }
                // `**/**` means the same as `**`.
                if segment != .anyDepth || segments.last != .anyDepth { segments.append(segment) }
                continue
            }
            if dots == 2, let last = segments.popLast() {
                guard case .literal = last else {
                    throw expected("no `..` after a glob, since the remaining path would depend on the URL", at: start)
                }
            }
            if position == end { segments.append(.literal([])) }
        }
        return segments.isEmpty ? [.literal([])] : segments
    }

    private func parseSegment(_ range: Range<Int>) throws(URLPatternError) -> PathSegmentPattern {
        let star = UInt8(ascii: "*")
        let source = bytes[range]
        if source.elementsEqual("**".utf8) { return .anyDepth }
        if let doubled = range.dropLast().first(where: { bytes[$0] == star && bytes[$0 + 1] == star }) {
            throw expected("`**` alone between slashes, or a single `*` within a segment", at: doubled)
        }
        if let percent = range.first(where: { bytes[$0] == UInt8(ascii: "%") && !isPercentEncoding(at: $0, range) }) {
            throw expected("two hexadecimal digits after `%`; a percent sign itself is `%25`", at: percent)
        }
        var text: [UInt8] = []
        for (index, part) in source.split(separator: star, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { text.append(PathSegmentPattern.star) }
            PathNormalization.appendSegment(part, decoding: .segment, to: &text)
        }
        if text == [PathSegmentPattern.star] { return .any }
        return text.contains(PathSegmentPattern.star) ? .glob(text) : .literal(text)
    }

    private func isPercentEncoding(at index: Int, _ range: Range<Int>) -> Bool {
        percentDecodedByte(bytes, at: index, end: range.upperBound) != nil
    }

    // MARK: - Query

    mutating func parseQuery() throws(URLPatternError) -> [QueryCondition] {
        if let fragment = bytes[position...].firstIndex(of: UInt8(ascii: "#")) {
            throw expected("no fragment, since it never reaches a server", at: fragment)
        }
        guard position < bytes.count else { return [] }
        var conditions: [QueryCondition] = []
        var start = position + 1
        while true {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
            conditions.append(try parseQueryItem(start..<end))
            if end == bytes.count { return conditions }
            start = end + 1
        }
    }

    private func parseQueryItem(_ range: Range<Int>) throws(URLPatternError) -> QueryCondition {
        let item = bytes[range]
        let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? range.upperBound
        guard equals > range.lowerBound else {
            throw expected("a query item such as `name=value`, `name=*` or `name`", at: range.lowerBound)
        }
        let name = try decodedQueryText(range.lowerBound..<equals, "a query name without `*`")
        guard equals < range.upperBound else { return .present(name) }
        let value = (equals + 1)..<range.upperBound
        if bytes[value].elementsEqual("*".utf8) { return .present(name) }
        return .equals(name, try decodedQueryText(value, "the whole value of a query item, or `*` alone for any value"))
    }

    private func decodedQueryText(_ range: Range<Int>, _ what: String) throws(URLPatternError) -> String {
        if let star = bytes[range].firstIndex(of: UInt8(ascii: "*")) { throw expected(what, at: star) }
        guard let text = String(validating: removingPercentEncoding(bytes[range]), as: UTF8.self) else {
            throw expected("percent-encoded UTF-8", at: range.lowerBound)
        }
        return text
    }
}

/// The error for an invalid URL pattern: the pattern, the position, and what was expected there.
///
/// Its description shows the position:
/// ```
/// URL pattern not understood: expected `://` after the scheme, as in `https://host/path`
///   https:/shop.example/
///        ^
/// ```
public struct URLPatternError: CodedError, Hashable {
    /// The kind of the error; later releases may add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The text is no pattern.
        public static let invalidPattern = Code(description: "invalidPattern")
    }

    /// The pattern as it was written.
    public let pattern: String

    /// The position of the error, in UTF-8 bytes from the start of ``pattern``, at most their count.
    public let offset: Int

    /// The syntax that was expected there, as a phrase.
    public let expected: String

    /// Makes an error; `offset` counts UTF-8 bytes.
    public init(pattern: String, offset: Int, expected: String) {
        self.pattern = pattern
        self.offset = offset
        self.expected = expected
    }
}

extension URLPatternError {
    /// The longest part of a pattern that is shown, in Unicode scalars.
    static let limit = 2_000

    /// Always ``Code/invalidPattern``.
    public var code: Code { .invalidPattern }

    /// The expected syntax, the pattern on a line of its own, and a caret below it at the position.
    ///
    /// Control characters in the pattern are escaped, so that it cannot overwrite the message.
    public var message: String {
        let place = String(decoding: pattern.utf8.prefix(offset), as: UTF8.self)
        let indent = String(repeating: " ", count: place.shown(upTo: Self.limit).count)
        return """
            URL pattern not understood: expected \(expected)
              \(pattern.shown(upTo: Self.limit))
              \(indent)^
            """
    }

    /// The message.
    public var description: String { message }
}
