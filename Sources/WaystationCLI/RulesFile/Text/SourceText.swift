import WaystationHTTP

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

/// A mistake in a text, at the offsets of its Unicode scalars.
struct Fault: Error, Equatable {
    let range: Range<Int>
    let message: String

    init(_ range: Range<Int>, _ message: String) {
        self.range = range
        self.message = message
    }
}

/// The mistakes that several readers of one text find.
final class FaultList {
    private(set) var faults: [Fault]

    init(_ faults: [Fault]) { self.faults = faults }

    func add(_ range: Range<Int>, _ message: String) { faults.append(Fault(range, message)) }
}

extension Sequence<Unicode.Scalar> {
    /// The text in which each hidden character is replaced by one other, so that a mark below it keeps its place.
    var shownInPlace: String {
        reduce(into: "") { text, scalar in
            text.unicodeScalars.append(scalar == "\t" ? " " : scalar.isHidden ? "\u{FFFD}" : scalar)
        }
    }
}

/// Finds the word that was probably meant.
enum Spelling {
    /// The known word that is closest to a written one.
    ///
    /// - Returns: The word; nil if none is close: at most one letter in three may differ, regardless of case, `-` and
    ///   `_`.
    static func suggestion(for word: String, among known: some Sequence<String>) -> String? {
        let letters = bare(word)
        guard !letters.isEmpty else { return nil }
        let closest = known.map { (word: $0, distance: distance(letters, bare($0))) }.min { $0.distance < $1.distance }
        guard let closest, closest.distance <= max(1, letters.count / 3) else { return nil }
        return closest.word
    }

    private static func bare(_ word: String) -> [Character] {
        word.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " }
    }

    /// The least number of letters that are added, left out, replaced, or swapped with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var next = [row + 1]
            for column in 0..<right.count {
                let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(replaced, last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, before[column - 1] + 1)
                }
                next.append(best)
            }
            (before, last) = (last, next)
        }
        return last[right.count]
    }
}

/// A place in a text: where an editor puts its cursor, and what stands there.
struct TextPlace: Hashable, Sendable {
    /// The line, counted from 1.
    let line: Int
    /// The column in the line, in Unicode scalars, counted from 1.
    let column: Int
    /// The line's text, in which each hidden character is replaced by one visible character; of a long line, the part
    /// around the place.
    let excerpt: String
    /// The part of the excerpt that is meant, in Unicode scalars from its start: at least one.
    let mark: Range<Int>
}
