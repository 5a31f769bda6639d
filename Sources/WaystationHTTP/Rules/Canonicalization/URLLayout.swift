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
