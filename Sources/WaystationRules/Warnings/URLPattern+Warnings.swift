extension URLPattern {
    /// A message for a path that matches less than its author probably meant; nil for every other path.
    var narrowPathMessage: String? {
        let host = text[..<authorityEnd]
        let tail = text[authorityEnd...]
        if tail.utf8.first != UInt8(ascii: "/") {
            return """
                a pattern without a path takes only the front page; write `\(host)/**\(tail)` for every page of the \
                host, or `\(host)/\(tail)` for the front page
                """
        }
        guard path == [.any] else { return nil }
        let query = tail.utf8.firstIndex(of: UInt8(ascii: "?")).map { tail[$0...] } ?? ""
        return """
            `/*` takes only paths of one segment, such as `/a` and not `/a/b`; write `\(host)/**\(query)` for every \
            page of the host
            """
    }

    /// A message for an unclosed `[` in the path or in the query; nil when there is none.
    var unclosedBracketMessage: String? {
        let tail = text.utf8[authorityEnd...]
        guard let bracket = tail.lastIndex(of: UInt8(ascii: "[")), !tail[bracket...].contains(UInt8(ascii: "]")) else {
            return nil
        }
        return """
            the `[` is not closed and stands for the character itself, since patterns have no character classes; write \
            `*`, or one rule for each character
            """
    }
}
