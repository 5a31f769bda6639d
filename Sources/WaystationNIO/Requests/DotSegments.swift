#if NIO
/// Removes `.` and `..` from a path (RFC 3986 §5.2.4), as plain `URLSession` does before it sends a request.
///
/// Percent-encoded dots (`%2e`) are left alone.
enum DotSegments {
    /// - Returns: The path without dot segments; it begins with `/`.
    static func removed(from path: Substring) -> Substring {
        guard !path.isEmpty else { return "/" }
        guard containsDotSegment(path) else { return path }
        var segments: [Substring] = []
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".":
                if isLast { segments.append("") }
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            default:
                segments.append(part)
            }
        }
        return "/" + segments.joined(separator: "/")
    }

    /// Almost no path has a dot segment, so this is asked before anything is taken apart.
    private static func containsDotSegment(_ path: Substring) -> Bool {
        var previous: UInt8 = 0
        for byte in path.utf8 {
            if byte == UInt8(ascii: "."), previous == UInt8(ascii: "/") { return true }
            previous = byte
        }
        return false
    }
}
#endif
