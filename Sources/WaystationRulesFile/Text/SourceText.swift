import WaystationFields

/// A text as Unicode scalars, with the positions of its lines.
struct SourceText {
    let scalars: [Unicode.Scalar]
    /// The offset of the first scalar of each line.
    private let lineStarts: [Int]

    init(_ text: String) {
        // A mark of the byte order at the start is not part of the text.
        let scalars = Array(text.unicodeScalars.drop { $0 == "\u{FEFF}" })
        self.scalars = scalars
        lineStarts = [0] + scalars.indices.filter { scalars[$0] == "\n" }.map { $0 + 1 }
    }

    /// The number of the line with an offset, from 0, found by bisection.
    private func line(of offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    /// The place of a range; only its part on the first line is marked.
    func place(of range: Range<Int>) -> TextPlace {
        let line = line(of: range.lowerBound)
        let start = lineStarts[line]
        let rest = scalars[start...]
        let text = rest[..<(rest.firstIndex { $0 == "\n" || $0 == "\r" } ?? rest.endIndex)]
        // A long line, such as that of a file without line ends, is shown around the place.
        let first = text.count > Self.excerptLimit ? max(start, range.lowerBound - Self.excerptLimit / 2) : start
        let excerpt = text[first...].prefix(Self.excerptLimit)
        let (isCutBefore, isCutAfter) = (first > start, excerpt.endIndex < text.endIndex)
        let markStart = range.lowerBound - first + (isCutBefore ? 1 : 0)
        let length = max(1, min(range.upperBound, excerpt.endIndex) - range.lowerBound)
        return TextPlace(
            line: line + 1,
            column: range.lowerBound - start + 1,
            excerpt: (isCutBefore ? "…" : "") + excerpt.shownInPlace + (isCutAfter ? "…" : ""),
            mark: markStart..<markStart + length
        )
    }

    /// The longest excerpt of a line, in Unicode scalars.
    private static let excerptLimit = 200
}
