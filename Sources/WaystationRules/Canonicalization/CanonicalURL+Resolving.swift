extension CanonicalURL {
    /// The URL that a reference stands for in a document, or in a `Location` field, of this URL.
    ///
    /// Resolves by RFC 3986 §5.2 in its strict form, then canonicalises; fragments are dropped. Returns `nil` when the
    /// result is not an absolute URL that ``init(_:)`` reads: `mailto:a@b`, `http:no-authority`, control characters.
    public func resolving(_ reference: String) -> CanonicalURL? {
        let bytes = reference.utf8
        guard let first = bytes.first(where: { !ByteSet.schemeTail.contains($0) }) else {
            return bytes.isEmpty ? self : merging(reference)
        }
        if first == UInt8(ascii: ":"), bytes.first != first { return CanonicalURL(reference) }
        if reference.hasPrefix("//") { return CanonicalURL("\(scheme):\(reference)") }
        switch bytes.first {
        case UInt8(ascii: "/"): return CanonicalURL(authorityPrefix + reference)
        case UInt8(ascii: "?"): return CanonicalURL(authorityPrefix + path + reference)
        // A reference that is only a fragment keeps the query (§5.2.2); the fragment is still checked.
        case UInt8(ascii: "#"): return CanonicalURL(string + reference)
        default: return merging(reference)
        }
    }

    /// Merges by RFC 3986 §5.2.3: the reference replaces the text after the last slash of the path.
    private func merging(_ reference: String) -> CanonicalURL? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        return CanonicalURL(authorityPrefix + path[...slash] + reference)
    }

    /// Everything before the path, including user information.
    private var authorityPrefix: String { String(string[..<path.startIndex]) }
}
