extension CanonicalURL {
    /// The same URL without needless escapes: each character of the path that a segment may contain as it is stands for
    /// itself, so that `/%40scope/a%2Bb.js` is `/@scope/a+b.js`.
    ///
    /// Browsers and other clients write such characters in either way, and a server may treat the two as different
    /// (RFC 3986 §2.2). A request is therefore sent and stored with the URL that it has, and this form is only compared:
    /// with the patterns of rules, and with the names of files, which are the same for both spellings. If they were
    /// compared in different forms, one spelling of a file's URL would get past the rule that blocks the other.
    ///
    /// - Complexity: O(1) for a URL without needless escapes.
    package var plain: CanonicalURL {
        guard layout.hasNeedlessEscapes else { return self }
        return string.withUTF8Bytes { bytes in
            var text = Array(bytes[..<Int(layout.pathStart)])
            text.reserveCapacity(bytes.count)
            var index = Int(layout.pathStart)
            while index < layout.pathEnd {
                if let decoded = percentDecodedByte(bytes, at: index, end: Int(layout.pathEnd)),
                    ByteSet.segment.contains(decoded)
                {
                    text.append(decoded)
                    index += 3
                } else {
                    text.append(bytes[index])
                    index += 1
                }
            }
            var layout = layout
            layout.pathEnd = Int32(text.count)
            layout.hasNeedlessEscapes = false
            text.append(contentsOf: bytes[index...])
            return CanonicalURL(string: String(decoding: text, as: UTF8.self), layout: layout)
        }
    }
}
