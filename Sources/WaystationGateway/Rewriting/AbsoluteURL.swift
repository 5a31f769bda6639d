#if Gateway
import Foundation
import WaystationHTTP

/// An absolute `http` or `https` URL in a text, found as browsers parse it (URL Standard §4.4).
///
/// Spaces and controls around it, and tabs and line ends within it, do not count; each slash may be a backslash; and a
/// URL that begins with two slashes has the scheme of its page.
struct AbsoluteURL {
    let origin: OriginName
    /// The URL in its usual form, without name, password and fragment.
    let text: String
    /// The places of everything before the path: scheme, slashes, name, password, host and port.
    let prefix: Range<Int>

    /// Finds the URL that a part of a text is; nil if it is a relative URL, one with another scheme, or one whose host has
    /// no name at a gateway.
    ///
    /// - Parameters:
    ///   - text: The decoded text.
    ///   - range: The part.
    ///   - scheme: The scheme of the page's base URL.
    init?(_ text: MappedBytes, _ range: Range<Int>, base scheme: String) {
        var range = Self.trimmed(text.bytes, range)
        guard Self.mayBeAbsolute(text.bytes[range]) else { return nil }
        var text = text
        if text.bytes[range].contains(where: Self.isIgnored) {
            text = text.filtered(range) { !Self.isIgnored($0) }
            range = text.bytes.indices
        }
        let bytes = text.bytes
        guard let (own, authority) = Self.start(bytes, range, base: scheme) else { return nil }
        let end = bytes[authority..<range.upperBound].firstIndex(where: Self.endsAuthority) ?? range.upperBound
        guard let origin = Self.origin(own ?? scheme, bytes[authority..<end]) else { return nil }
        self.origin = origin
        self.text = origin.serialized + Self.rest(bytes[end..<range.upperBound])
        prefix = text.places(range.lowerBound..<end)
    }

    /// Quickly finds out that a text without leading spaces is not an absolute URL, as most texts are not.
    ///
    /// - Parameter text: The text, raw or decoded.
    /// - Returns: Whether the text must be looked at.
    static func mayBeAbsolute(_ text: some Collection<UInt8>) -> Bool {
        guard let first = text.first else { return false }
        guard let second = text.dropFirst().first else { return false }
        if first == UInt8(ascii: "&") { return true }
        if second == UInt8(ascii: "&") || isIgnored(second) { return true }
        return isSlash(first) ? isSlash(second) : first.lowercased == UInt8(ascii: "h")
    }

    /// Finds the place at which a URL lacks a scheme, whatever its host is.
    ///
    /// - Parameters:
    ///   - text: The decoded text.
    ///   - range: The part of it that is a URL.
    /// - Returns: The place of the first of the two slashes with which the URL begins; nil if it begins otherwise.
    static func placeOfMissingScheme(_ text: MappedBytes, _ range: Range<Int>) -> Int? {
        let range = trimmed(text.bytes, range)
        let bytes = text.bytes[range].lazy.filter { !isIgnored($0) }
        guard bytes.prefix(while: isSlash).prefix(2).count == 2, !bytes.allSatisfy(isSlash) else { return nil }
        return text.place(range.lowerBound)
    }

    static func isControlOrSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }

    private static func isIgnored(_ byte: UInt8) -> Bool { byte == 0x09 || byte == 0x0a || byte == 0x0d }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        isSlash(byte) || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func trimmed(_ bytes: [UInt8], _ range: Range<Int>) -> Range<Int> {
        var range = range
        while let first = range.first, isControlOrSpace(bytes[first]) { range = (first + 1)..<range.upperBound }
        while let last = range.last, isControlOrSpace(bytes[last]) { range = range.lowerBound..<last }
        return range
    }

    /// The scheme, nil if it is the page's, and the start of the authority.
    private static func start(
        _ bytes: [UInt8],
        _ range: Range<Int>,
        base: String
    ) -> (scheme: String?, authority: Int)? {
        var index = range.lowerBound
        var scheme: String?
        if !isSlash(bytes[index]) {
            guard let colon = bytes[range].prefix(6).firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = String(decoding: bytes[range.lowerBound..<colon].map(\.lowercased), as: UTF8.self)
            guard OriginName.standardPort(of: name) != nil else { return nil }
            scheme = name
            index = colon + 1
        }
        let afterScheme = index
        while index < range.upperBound, isSlash(bytes[index]) { index += 1 }
        // With the scheme of the page and fewer slashes, the URL is relative (special relative or authority state).
        guard index - afterScheme >= 2 || (scheme != nil && scheme != base) else { return nil }
        return (scheme, index)
    }

    private static func origin(_ scheme: String, _ authority: ArraySlice<UInt8>) -> OriginName? {
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        let parts = host.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2,
            let name = String(decoding: first, as: UTF8.self).removingPercentEncoding
        else { return nil }
        var port: Int?
        if parts.count == 2, !parts[1].isEmpty {
            guard parts[1].allSatisfy(\.isASCIIDigit),
                let number = UInt16(String(decoding: parts[1], as: UTF8.self))
            else { return nil }
            port = Int(number)
        }
        return OriginName(scheme: scheme, host: name, port: port).flatMap { $0.name == nil ? nil : $0 }
    }

    private static func rest(_ bytes: ArraySlice<UInt8>) -> String {
        let shown = bytes.prefix { $0 != UInt8(ascii: "#") }
        let path = shown.prefix { $0 != UInt8(ascii: "?") }
        let slashed = path.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
        let text = String(decoding: slashed + shown[path.endIndex...], as: UTF8.self)
        return slashed.isEmpty ? "/" + text : text
    }
}

/// The URLs of a page, and the form in which a browser follows them at the gateway.
struct Links: Sendable {
    /// A replacement of a part of a text.
    struct Edit: Equatable {
        /// The places of the bytes that are replaced.
        let range: Range<Int>
        let text: [UInt8]
    }

    let names: LocalNames
    /// The scheme of the page's origin.
    let pageScheme: String
    /// The page's origin; nil if it is not known.
    let page: OriginName?
    /// The scheme of the page's base URL, which URLs without a scheme have.
    private(set) var scheme: String
    /// The scheme that a browser gives to such URLs: `http` as long as the base URL is one of the gateway.
    private var browserScheme = "http"
    /// Whether a rule takes a URL.
    let isServed: @Sendable (String) -> Bool

    init(
        names: LocalNames,
        scheme: String,
        page: OriginName? = nil,
        isServed: @escaping @Sendable (String) -> Bool
    ) {
        self.names = names
        self.page = page
        pageScheme = scheme
        self.scheme = scheme
        self.isServed = isServed
    }

    /// The page names its base URL.
    mutating func setBase(_ base: AbsoluteURL) {
        scheme = base.origin.scheme
        browserScheme = local(base) == nil ? scheme : "http"
    }

    /// The gateway's URL, without a path, that takes the place of a URL; nil if the URL stays as it is.
    private func local(_ url: AbsoluteURL) -> String? {
        guard !names.isReserved(url.origin), isServed(url.text) else { return nil }
        return names.authority(of: url.origin).map { "http://" + $0 }
    }

    /// Makes a URL that a rule takes lead to the gateway.
    ///
    /// Any other URL without a scheme gets the scheme of the page's base URL: a browser would give it the `http` of the
    /// gateway's own page, and load a script without encryption.
    ///
    /// Only scheme, host and port are replaced, with letters, digits and `:/.-_`. These mean the same in every context
    /// of HTML, CSS and JavaScript, so no replacement can end a string or a tag.
    ///
    /// - Parameters:
    ///   - text: The decoded text.
    ///   - range: The part of it that is a URL.
    /// - Returns: The edit; nil if the URL stays as it is.
    func edit(_ text: MappedBytes, _ range: Range<Int>) -> Edit? {
        if let url = AbsoluteURL(text, range, base: scheme), let local = local(url) {
            return Edit(range: url.prefix, text: Array(local.utf8))
        }
        guard scheme != browserScheme, let place = AbsoluteURL.placeOfMissingScheme(text, range) else { return nil }
        return Edit(range: place..<place, text: Array((scheme + ":").utf8))
    }
}

/// The name of a tag, an attribute or a CSS token, in lower case: as many of its bytes as the longest known name has.
///
/// A name can be arbitrarily long, and arrives in parts; a longer one equals no known name.
struct ShortName: Hashable, Sendable {
    private static let maximum = 18

    private var high: UInt64 = 0
    private var low: UInt64 = 0
    private var last: UInt16 = 0
    private(set) var count: UInt8 = 0

    init() {}

    init(_ name: StaticString) {
        name.withUTF8Buffer { for byte in $0 { append(byte) } }
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        let byte = byte.lowercased
        switch count {
        case 0..<8: high = high << 8 | UInt64(byte)
        case 8..<16: low = low << 8 | UInt64(byte)
        case 16..<18: last = last << 8 | UInt16(byte)
        default: return count = UInt8(Self.maximum) + 1
        }
        count += 1
    }

    /// A number that differs for most names.
    @inline(__always)
    var mixed: Int {
        let product = (high ^ (low &* 0x9e37_79b9) ^ UInt64(last) ^ UInt64(count)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: product >> 40)
    }

    /// The bytes of a name that is not too long.
    var bytes: [UInt8] {
        guard count <= Self.maximum else { return [] }
        let first = (0..<min(count, 8)).reversed().map { UInt8(truncatingIfNeeded: high >> (UInt64($0) * 8)) }
        let second = (0..<min(max(count, 8) - 8, 8)).reversed().map {
            UInt8(truncatingIfNeeded: low >> (UInt64($0) * 8))
        }
        let third = (0..<(max(count, 16) - 16)).reversed().map { UInt8(truncatingIfNeeded: last >> (UInt16($0) * 8)) }
        return first + second + third
    }
}
#endif
