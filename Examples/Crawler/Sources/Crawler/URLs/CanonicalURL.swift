/// An absolute http(s) URL in one spelling, without fragment and credentials.
///
/// Two links that a server cannot distinguish are equal: scheme and host are in lower case, a default port and dot
/// segments are removed, percent-encoding is normalised (RFC 3986, section 6.2.2), and characters that need encoding
/// are encoded. The order of query items and a trailing slash are kept, since they may matter.
struct CanonicalURL: Sendable {
    /// The whole URL; ASCII only.
    let text: String
    /// Lengths in the UTF-8 of `text`.
    private let originLength: Int
    private let pathLength: Int

    init(origin: String, path: [UInt8], query: [UInt8]?) {
        var text = origin
        text += String(decoding: path, as: UTF8.self)
        if let query {
            text += "?"
            text += String(decoding: query, as: UTF8.self)
        }
        self.text = text
        originLength = origin.utf8.count
        pathLength = path.count
    }

    /// Scheme, host and port: `https://example.org:8443`.
    var origin: String { slice(0, originLength) }
    /// Starts with `/`.
    var path: String { slice(originLength, originLength + pathLength) }
    /// The text after the `?`; nil if the URL has no query.
    var query: String? {
        let start = originLength + pathLength
        return start < text.utf8.count ? slice(start + 1, text.utf8.count) : nil
    }
    /// Path and query as they are sent.
    var pathAndQuery: String { slice(originLength, text.utf8.count) }
    var scheme: String { text.utf8.starts(with: "https".utf8) ? "https" : "http" }

    /// The host in lower case, without a port.
    var host: String {
        let authority = slice(scheme.utf8.count + 3, originLength)
        if authority.hasPrefix("[") {
            return authority.prefix { $0 != "]" } + "]"
        }
        return String(authority.prefix { $0 != ":" })
    }

    /// The path up to and including its last `/`.
    var directory: String {
        let path = path
        guard let slash = path.lastIndex(of: "/") else { return "/" }
        return String(path[...slash])
    }

    private func slice(_ start: Int, _ end: Int) -> String {
        let utf8 = text.utf8
        let from = utf8.index(utf8.startIndex, offsetBy: start)
        let to = utf8.index(utf8.startIndex, offsetBy: end)
        return String(text[from..<to])
    }
}

extension CanonicalURL: Hashable {
    static func == (left: Self, right: Self) -> Bool { left.text == right.text }
    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension CanonicalURL: CustomStringConvertible {
    var description: String { text }
}
