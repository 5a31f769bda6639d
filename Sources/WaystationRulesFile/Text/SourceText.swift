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
        let end = max(range.lowerBound + 1, min(range.upperBound, text.endIndex))
        return TextPlace(
            line: line + 1,
            column: range.lowerBound - start + 1,
            length: end - range.lowerBound,
            excerpt: Shown.sameWidth(text)
        )
    }
}
