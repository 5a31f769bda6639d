/// Normalises paths by RFC 3986: percent-encodings (§6.2.2.1, §6.2.2.2) first, then dot segments (§5.2.4).
enum PathNormalization {
    /// Appends the normal form of a path, which is empty or begins with `/`.
    static func append(_ path: ArraySlice<UInt8>, to output: inout [UInt8]) {
        let base = output.count
        let slash = UInt8(ascii: "/")
        var index = path.startIndex
        while index < path.endIndex {
            let segmentStart = output.count
            output.append(slash)
            let next = path[(index + 1)...].firstIndex(of: slash) ?? path.endIndex
            appendSegment(path[(index + 1)..<next], to: &output)
            index = next

            // Dot segments are found after decoding. If they were looked for before, `%2e%2e` would stay, and another
            // program could decode it and climb.
            let dots = dotCount(output[(segmentStart + 1)...])
            guard dots > 0 else { continue }
            output.removeLast(output.count - segmentStart)
            if dots == 2, let parent = output[base...].lastIndex(of: slash) {
                output.removeLast(output.count - parent)
            }
            if next == path.endIndex { output.append(slash) }
        }
        if output.count == base { output.append(slash) }
    }

    /// Appends one segment with its percent-encodings normalised; those of the given characters are decoded.
    static func appendSegment(
        _ segment: ArraySlice<UInt8>,
        decoding plain: ByteSet = .unreserved,
        to output: inout [UInt8]
    ) {
        var index = segment.startIndex
        while index < segment.endIndex {
            let byte = segment[index]
            if let decoded = percentDecodedByte(segment, at: index, end: segment.endIndex) {
                if plain.contains(decoded) {
                    output.append(decoded)
                } else {
                    output.appendPercentEncoded(decoded)
                }
                index += 3
            } else {
                if ByteSet.segment.contains(byte) { output.append(byte) } else { output.appendPercentEncoded(byte) }
                index += 1
            }
        }
    }

    /// Whether a canonical path has percent-encodings of characters that a segment may contain as they are.
    static func hasNeedlessEscapes(_ path: ArraySlice<UInt8>) -> Bool {
        path.indices.contains { index in
            percentDecodedByte(path, at: index, end: path.endIndex).map(ByteSet.segment.contains) ?? false
        }
    }

    /// Returns 1 for `.`, 2 for `..`, otherwise 0.
    static func dotCount(_ segment: ArraySlice<UInt8>) -> Int {
        segment.count <= 2 && segment.allSatisfy { $0 == UInt8(ascii: ".") } ? segment.count : 0
    }
}
