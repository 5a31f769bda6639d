/// The URL of `<meta http-equiv="refresh" content="5; url=next.html">` and of the response field `Refresh`, by HTML's
/// "shared declarative refresh steps".
enum MetaRefresh {
    /// Nil if the page only reloads itself.
    static func url(in content: String) -> String? {
        var rest = content.unicodeScalars[...]
        func skipSpace() { rest = rest.drop { $0.properties.isWhitespace } }
        skipSpace()
        let time = rest.prefix { ("0"..."9").contains($0) || $0 == "." }
        guard !time.isEmpty else { return nil }
        rest = rest.dropFirst(time.count)
        let beforeSeparator = rest.startIndex
        skipSpace()
        if let first = rest.first, first == ";" || first == "," {
            rest = rest.dropFirst()
            skipSpace()
        } else if rest.startIndex == beforeSeparator {
            return nil
        }
        guard !rest.isEmpty else { return nil }
        if rest.prefix(3).map({ String($0).lowercased() }).joined() == "url" {
            let afterWord = rest.dropFirst(3).drop { $0.properties.isWhitespace }
            if afterWord.first == "=" {
                rest = afterWord.dropFirst().drop { $0.properties.isWhitespace }
            }
        }
        if let quote = rest.first, quote == "\"" || quote == "'" {
            rest = rest.dropFirst().prefix { $0 != quote }
        }
        let url = String(String.UnicodeScalarView(rest))
        return url.isEmpty ? nil : url
    }
}
