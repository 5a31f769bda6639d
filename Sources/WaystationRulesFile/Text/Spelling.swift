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
