/// A pattern for whole URLs: `*` stands for any characters (including slashes), every other character for itself.
public struct Glob: Hashable, Sendable, Codable {
    /// The pattern as it was written.
    public let pattern: String

    /// Makes a pattern; every text is one.
    public init(_ pattern: String) {
        self.pattern = pattern
    }

    /// Whether the pattern matches the whole text.
    ///
    /// - Complexity: O(pattern × text) at worst; never exponential, since only the last `*` is tried again.
    public func matches(_ text: String) -> Bool {
        let pattern = Array(pattern.utf8)
        let text = Array(text.utf8)
        let star = UInt8(ascii: "*")
        var p = 0
        var t = 0
        var lastStar: (pattern: Int, text: Int)?
        while t < text.count {
            if p < pattern.count, pattern[p] == star {
                lastStar = (p, t)
                p += 1
            } else if p < pattern.count, pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let back = lastStar {
                p = back.pattern + 1
                t = back.text + 1
                lastStar = (back.pattern, t)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == star }
    }
}
