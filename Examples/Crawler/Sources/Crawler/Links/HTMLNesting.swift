/// Keeps pages from being nested so deeply that building their tree takes for ever.
///
/// The parser looks through all open elements at each tag, so a hundred thousand unclosed ones cost minutes. Browsers
/// stop nesting at some hundred. Here what follows the limit is not read.
enum HTMLNesting {
    static let limit = 10_000

    /// How many of the bytes may be parsed: all of them for any page made in good faith.
    ///
    /// Counts tags without understanding them, so it errs within comments and scripts; with this limit that does not
    /// matter.
    static func safeLength(_ html: UnsafeBufferPointer<UInt8>) -> Int {
        var depth = 0
        var index = 0
        let end = html.count - 1
        while index < end {
            guard html[index] == UInt8(ascii: "<") else {
                index += 1
                continue
            }
            let start = index
            index += 1
            let isClosing = html[index] == UInt8(ascii: "/")
            if isClosing { index += 1 }
            let nameStart = index
            while index <= end, isLetter(html[index]) { index += 1 }
            let name = UnsafeBufferPointer(rebasing: html[nameStart..<index])
            if name.isEmpty || !nests(name) { continue }
            depth = isClosing ? max(0, depth - 1) : depth + 1
            if depth > limit { return start }
        }
        return html.count
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    /// False for elements that are empty or end by themselves.
    private static func nests(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.count <= 8 else { return true }
        return !selfEnding.contains { other in
            other.utf8CodeUnitCount == name.count
                && other.withUTF8Buffer { zip($0, name).allSatisfy { $0 == $1 | 0x20 } }
        }
    }

    private static let selfEnding: [StaticString] = [
        "p", "li", "br", "dt", "dd", "tr", "td", "th", "hr", "img", "link", "meta", "base", "area", "input", "option",
        "source", "track", "embed", "param", "col", "wbr", "tbody", "thead", "path",
    ]
}
