/// Matching of robots.txt patterns (RFC 9309, sections 2.2.2 and 2.2.3).
enum RobotsPattern {
    private static let star = UInt8(ascii: "*")
    private static let dollar = UInt8(ascii: "$")

    /// A rule's path in the form in which URLs are compared, with normalised percent-encoding.
    static func normalized(_ pattern: some Sequence<UInt8>) -> [UInt8] {
        // Path and query have the same rules here except for `?`, which a pattern may contain.
        PercentEncoding.normalized(Array(pattern)[...], .query)
    }

    /// The path and query of a URL in comparable form: a literal `*` or `$` is encoded, the only form in which a rule
    /// can name it.
    static func subject(_ pathAndQuery: String) -> [UInt8] {
        var subject: [UInt8] = []
        for byte in PercentEncoding.normalized(Array(pathAndQuery.utf8)[...], .query) {
            switch byte {
            case star: subject.append(contentsOf: "%2A".utf8)
            case dollar: subject.append(contentsOf: "%24".utf8)
            default: subject.append(byte)
            }
        }
        return subject
    }

    /// Whether the pattern matches a prefix of the path, or with a final `$` the whole path.
    ///
    /// It keeps the set of positions that the pattern may have reached so far, so that no pattern can make it slow.
    /// - Complexity: O(pattern × path).
    static func matches(_ pattern: [UInt8], _ path: [UInt8]) -> Bool {
        var pattern = pattern[...]
        let isAnchored = pattern.last == dollar
        if isAnchored { pattern = pattern.dropLast() }
        var reached = [Bool](repeating: false, count: path.count + 1)
        reached[0] = true
        for symbol in pattern {
            var isReachable = false
            if symbol == star {
                for index in reached.indices {
                    isReachable = isReachable || reached[index]
                    reached[index] = isReachable
                }
            } else {
                for index in stride(from: path.count, to: 0, by: -1) {
                    reached[index] = reached[index - 1] && path[index - 1] == symbol
                    isReachable = isReachable || reached[index]
                }
                reached[0] = false
            }
            if !isReachable { return false }
        }
        return isAnchored ? reached[path.count] : true
    }
}
