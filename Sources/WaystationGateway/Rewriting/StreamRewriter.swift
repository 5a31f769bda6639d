#if Gateway
/// Finds the links in a text that arrives in parts.
protocol LinkScanner: Sendable {
    /// Looks at bytes, and applies edits.
    ///
    /// - Parameters:
    ///   - text: The bytes that were kept of the call before, and those that have arrived since.
    ///   - isLast: Whether no more bytes follow.
    ///   - output: Takes the edits.
    /// - Returns: The number of bytes that are not needed again; the next call gets the others once more.
    mutating func scan(_ text: UnsafeBufferPointer<UInt8>, isLast: Bool, _ output: inout RewrittenText) -> Int
}

/// Rewrites the links of a body part by part.
///
/// The result does not depend on how the body is split. Bytes are held back only within a URL, or where a few more
/// decide what they are.
struct StreamRewriter<Scanner: LinkScanner>: Sendable {
    private var scanner: Scanner
    private var kept: [UInt8] = []

    init(_ scanner: Scanner) { self.scanner = scanner }

    /// Takes the next part.
    ///
    /// - Returns: The bytes to pass on.
    mutating func append(_ part: some Collection<UInt8>) -> [UInt8] {
        kept.append(contentsOf: part)
        return scan(isLast: false)
    }

    /// Takes the end of the body.
    ///
    /// - Returns: The rest of the bytes to pass on.
    mutating func finish() -> [UInt8] { scan(isLast: true) }

    private mutating func scan(isLast: Bool) -> [UInt8] {
        let text = kept
        var output = RewrittenText()
        let end = text.withUnsafeBufferPointer { text in
            let end = scanner.scan(text, isLast: isLast, &output)
            output.pass(to: isLast ? text.count : end, of: text)
            return isLast ? text.count : end
        }
        // A long URL that arrives byte by byte is not copied each time.
        if end > 0 { kept = Array(text[end...]) }
        return output.bytes
    }
}
#endif
