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
