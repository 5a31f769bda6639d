/// The check for public suffixes: domains such as `co.uk`, with many owners, for which no cookie may be set
/// (RFC 6265 §5.3 step 5).
public struct PublicSuffixes: Sendable {
    private let contains: @Sendable (String) -> Bool

    /// Makes a check from the app's own list.
    ///
    /// - Parameter contains: Returns whether a domain is a public suffix. The domain has two labels or more, is in
    ///   lower case and has no dot at either end. Single labels (`com`, `localhost`) are always public suffixes and are
    ///   not passed to it.
    public init(_ contains: @escaping @Sendable (String) -> Bool) {
        self.contains = contains
    }

    /// The Public Suffix List (<https://publicsuffix.org>), as it was when this version of the library was made.
    ///
    /// Both parts of the list count: registries (`co.uk`), and hosts of many customers (`github.io`). A single label
    /// that the list does not have is a public suffix.
    public static let builtIn = PublicSuffixes { PublicSuffixTable.contains($0) }

    /// Whether the built-in list has public suffixes below a domain, so that the names below it belong to several sites.
    ///
    /// - Parameter domain: The domain, in lower case.
    /// - Returns: True for a public suffix, and for a domain such as `amazonaws.com`, below which there are some.
    package static func separates(_ domain: String) -> Bool {
        builtIn.contain(domain) || PublicSuffixTable.hasRules(below: domain)
    }

    /// Whether a domain is a public suffix.
    package func contain(_ domain: String) -> Bool {
        // The root's dot changes the name's text, but not which domain it is.
        let name = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        return !name.utf8.contains(UInt8(ascii: ".")) || contains(name)
    }

    /// The domain that has one owner and contains a host: its public suffix and the label before it.
    ///
    /// - Parameter host: A host name of ASCII, or an address.
    /// - Returns: The domain in lower case; the host itself if it is an address or a public suffix.
    package func site(of host: String) -> String {
        guard let host = CookieHost(host) else { return host }
        return registrableDomain(of: host) ?? host.name
    }

    /// The public suffix of a host and the label before it; `nil` when the host is an address or a public suffix.
    func registrableDomain(of host: CookieHost) -> String? {
        guard !host.isAddress else { return nil }
        var owned: String?
        for suffix in host.suffixes {
            guard !contain(suffix) else { return owned }
            owned = suffix
        }
        return owned
    }
}

/// Searches the rules of the Public Suffix List (<https://publicsuffix.org/list/>), which are part of this module.
///
/// The list is searched where the program has it: it is neither parsed nor copied.
enum PublicSuffixTable {
    /// Whether a domain is a public suffix.
    ///
    /// The parent of a wildcard counts as one too: the names below it have different owners, so a cookie for the parent
    /// would be as wide as one for a public suffix.
    ///
    /// - Parameter domain: Two labels or more, in lower case and in their `xn--` form.
    /// - Returns: True if a rule makes the domain a public suffix.
    /// - Complexity: O(log number of rules).
    static func contains(_ domain: String) -> Bool {
        let labels = domain.utf8.split(separator: dot, omittingEmptySubsequences: false)
        guard let first = labels.first, labels.count > 1 else { return true }
        // These have a meaning in the list, and are in no name.
        guard !domain.utf8.contains(where: " !*".utf8.contains) else { return false }
        let (own, parent) = (start(of: labels[...]), start(of: labels.dropFirst()))
        return withLines { lines in
            if lines.contain(own + [star]) { return true }
            // Few parents have any rules.
            guard lines.haveStart(parent) else { return false }
            return lines.contain(parent + first)
                || (lines.contain(parent + [star]) && !lines.contain(parent + [UInt8(ascii: "!")] + first))
        }
    }

    /// Whether there are public suffixes below a domain, so that the names below it belong to several sites.
    ///
    /// - Parameter domain: The domain, in lower case and in its `xn--` form.
    /// - Returns: True if a rule is for a name below the domain.
    static func hasRules(below domain: String) -> Bool {
        let start = start(of: domain.utf8.split(separator: dot, omittingEmptySubsequences: false)[...])
        return withLines { $0.haveStart(start) || $0.haveStart(start.dropLast() + [dot]) }
    }

    private static let dot = UInt8(ascii: ".")
    private static let star = UInt8(ascii: "*")

    /// The bytes with which the lines of a parent start.
    private static func start(of labels: ArraySlice<Substring.UTF8View>) -> [UInt8] {
        var start: [UInt8] = []
        start.reserveCapacity(80)
        for label in labels.reversed() {
            start += label
            start.append(dot)
        }
        start[start.count - 1] = UInt8(ascii: " ")
        return start
    }

    private static func withLines(_ search: (Lines) -> Bool) -> Bool {
        list.withUTF8Buffer { search(Lines(text: $0)) }
    }
}

/// The sorted lines of the list.
private struct Lines {
    let text: UnsafeBufferPointer<UInt8>

    private static let lineEnd = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")

    /// Whether there is a rule.
    ///
    /// - Parameter rule: The parent of the rule, a space, and the first label.
    /// - Returns: True if a line of the parent has the label.
    func contain(_ rule: [UInt8]) -> Bool {
        guard var position = lastLine(notAfter: rule), let space = rule.lastIndex(of: Self.space) else { return false }
        // The parent, with the space after it.
        for byte in rule[...space] {
            guard position < text.count, text[position] == byte else { return false }
            position += 1
        }
        let label = rule[(space + 1)...]
        while position < text.count, text[position] != Self.lineEnd {
            let end = text[position...].firstIndex { $0 == Self.space || $0 == Self.lineEnd } ?? text.endIndex
            if text[position..<end].elementsEqual(label) { return true }
            guard end < text.count, text[end] == Self.space else { return false }
            position = end + 1
        }
        return false
    }

    /// Whether a line begins with some bytes.
    func haveStart(_ start: [UInt8]) -> Bool {
        let before = lastLine(notAfter: start)
        let next = before.map { text[$0...].firstIndex(of: Self.lineEnd).map { $0 + 1 } ?? text.count } ?? 0
        return text[next...].starts(with: start) || before.map { text[$0...].starts(with: start) } ?? false
    }

    /// The start of the last line that does not come after a key: it may begin with the words of the key.
    private func lastLine(notAfter key: [UInt8]) -> Int? {
        var found: Int?
        var (low, high) = (0, text.count)
        while low < high {
            var start = low + (high - low) / 2
            while start > low, text[start - 1] != Self.lineEnd { start -= 1 }
            if isAfter(start, key) {
                high = start
            } else {
                found = start
                while start < high, text[start] != Self.lineEnd { start += 1 }
                low = start + 1
            }
        }
        return found
    }

    /// Whether the line at a place comes after a key, and does not begin with its words.
    private func isAfter(_ line: Int, _ key: [UInt8]) -> Bool {
        for (index, byte) in key.enumerated() {
            guard line + index < text.count else { return false }
            let other = text[line + index]
            if other != byte { return other > byte }
        }
        let end = line + key.count
        return end < text.count && text[end] != Self.space && text[end] != Self.lineEnd
    }
}
