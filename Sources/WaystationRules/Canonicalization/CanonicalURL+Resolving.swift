extension CanonicalURL {
    /// The URL that a reference means when it stands in a document or a `Location` field of this URL.
    ///
    /// Follows RFC 3986 §5.2 in its strict form, then canonicalises; fragments are dropped. Returns `nil` when the
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
        // A reference that is only a fragment keeps the query (§5.2.2), and the rest of it is checked all the same.
        case UInt8(ascii: "#"): return CanonicalURL(string + reference)
        default: return merging(reference)
        }
    }

    /// RFC 3986 §5.2.3: the reference takes the place of what follows the last slash of the path.
    private func merging(_ reference: String) -> CanonicalURL? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        return CanonicalURL(authorityPrefix + path[...slash] + reference)
    }

    /// Everything before the path, user information included.
    private var authorityPrefix: String { String(string[..<path.startIndex]) }
}
