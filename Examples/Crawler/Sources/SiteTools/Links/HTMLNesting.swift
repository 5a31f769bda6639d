/// Limits the nesting of pages, so that building their tree does not take for ever.
///
/// The parser searches all open elements at each tag, so a hundred thousand unclosed ones cost minutes. Browsers stop
/// nesting after some hundred levels. This crawler does not read the bytes after the limit.
enum HTMLNesting {
    static let limit = 10_000

    /// The number of bytes that may be parsed: all bytes of any ordinary page.
    ///
    /// Counts tags without parsing them, so it is wrong within comments and scripts; with this limit that does not
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

    /// False for elements that are empty or end implicitly.
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
