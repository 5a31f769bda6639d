/// One segment of a path pattern; it is compared with ``CanonicalURL/plain``.
enum PathSegmentPattern: Sendable, Hashable {
    /// Matches exactly these bytes, which have no needless escapes.
    case literal([UInt8])
    /// `*` alone: matches any segment.
    case any
    /// A segment with ``star`` among other bytes.
    case glob([UInt8])
    /// `**`: matches any number of segments.
    case anyDepth

    /// The byte of a glob that matches any run of bytes.
    ///
    /// No URL contains it, so it differs from the character `*`, which a pattern can demand by `%2A`.
    static let star: UInt8 = 0

    /// Whether the segments match the path `bytes[start..<end]`, which is empty or begins with `/`.
    ///
    /// The search backtracks only to the last `**` that was passed. An earlier `**` gains nothing by matching more
    /// segments, because the segments between the two were matched at their first possible place.
    ///
    /// - Complexity: O(segments of the pattern × bytes of the path).
    static func matches(
        _ segments: ArraySlice<PathSegmentPattern>,
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int,
        to end: Int
    ) -> Bool {
        var next = segments.startIndex
        var position = start
        var retry: (segment: Int, position: Int)?
        while true {
            if next < segments.endIndex, case .anyDepth = segments[next] {
                next += 1
                if next == segments.endIndex { return true }
                retry = (next, position)
                continue
            }
            if position < end, next < segments.endIndex {
                let segmentEnd = endOfSegment(bytes, from: position + 1, to: end)
                if segments[next].takes(bytes, position + 1, segmentEnd) {
                    next += 1
                    position = segmentEnd
                    continue
                }
            } else if position == end, next == segments.endIndex {
                return true
            }
            guard let (segment, tried) = retry, tried < end else { return false }
            position = endOfSegment(bytes, from: tried + 1, to: end)
            next = segment
            retry = (segment, position)
        }
    }

    /// The index of the next `/`, or `end`.
    @inline(__always)
    static func endOfSegment(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int {
        var index = start
        while index < end, bytes[index] != UInt8(ascii: "/") { index += 1 }
        return index
    }

    func takes(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
        switch self {
        case .any, .anyDepth: true
        case .literal(let text): bytes[start..<end].elementsEqual(text)
        case .glob(let text): Self.glob(text, bytes, start, end)
        }
    }

    /// Matches stars and backtracks only to the last one, so the cost is O(pattern × text) at worst.
    private static func glob(_ pattern: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool
    {
        var index = 0
        var position = start
        var retry: (index: Int, position: Int)?
        while true {
            if index < pattern.count, pattern[index] == star {
                index += 1
                retry = (index, position)
            } else if position < end, index < pattern.count, pattern[index] == bytes[position] {
                index += 1
                position += 1
            } else if position == end, index == pattern.count {
                return true
            } else {
                guard let (star, tried) = retry, tried < end else { return false }
                index = star
                position = tried + 1
                retry = (star, position)
            }
        }
    }
}

/// A condition of a rule on the query items of a URL, which may be among others and in any order.
///
/// Names and values are given as plain text and compared character by character with the percent-decoded ones of the
/// URL; `+` is a plus sign. If an item occurs several times, it is enough that one of them meets the condition.
public enum QueryCondition: Sendable, Hashable {
    /// The URL has an item of this name, with any value or none.
    case present(_ name: String)

    /// The URL has an item of this name and value; `name` without `=` has the empty value.
    case equals(_ name: String, _ value: String)

    /// Whether a URL meets the condition.
    public func isMet(by url: CanonicalURL) -> Bool {
        url.string.withUTF8Bytes { isMet(byQueryOf: $0, from: Int(url.layout.pathEnd) + 1) }
    }

    func isMet(byQueryOf bytes: UnsafeBufferPointer<UInt8>, from queryStart: Int) -> Bool {
        var start = queryStart
        while start < bytes.count {
            var end = start
            var nameEnd: Int?
            while end < bytes.count, bytes[end] != UInt8(ascii: "&") {
                if nameEnd == nil, bytes[end] == UInt8(ascii: "=") { nameEnd = end }
                end += 1
            }
            if isMet(byItem: bytes, start, nameEnd ?? end, end) { return true }
            start = end + 1
        }
        return false
    }

    private func isMet(byItem bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ nameEnd: Int, _ end: Int) -> Bool {
        switch self {
        case .present(let name):
            Self.decodes(bytes, start, nameEnd, to: name)
        case .equals(let name, let value):
            Self.decodes(bytes, start, nameEnd, to: name) && Self.decodes(bytes, min(nameEnd + 1, end), end, to: value)
        }
    }

    /// Whether the bytes, percent-decoded, equal the text; compares them without decoding into a copy.
    private static func decodes(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ start: Int,
        _ end: Int,
        to text: String
    ) -> Bool {
        var index = start
        for expected in text.utf8 {
            guard index < end else { return false }
            if let decoded = percentDecodedByte(bytes, at: index, end: end) {
                guard decoded == expected else { return false }
                index += 3
            } else {
                guard bytes[index] == expected else { return false }
                index += 1
            }
        }
        return index == end
    }
}

extension QueryCondition: CustomStringConvertible {
    /// `name=*` or `name=value`.
    public var description: String {
        switch self {
        case .present(let name): "\(name)=*"
        case .equals(let name, let value): "\(name)=\(value)"
        }
    }
}
