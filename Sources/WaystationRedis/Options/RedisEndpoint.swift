#if Redis
/// The place where a server listens.
struct RedisEndpoint: Hashable, Sendable, CustomStringConvertible {
    let host: String
    let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `host:port` as servers write it: an IPv6 address has no brackets.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - sender: The host of the server that sent the text; it stands for an empty host.
    init?(_ text: Substring, from sender: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else { return nil }
        let host = text[..<colon]
        // A server whose preferred kind of address is a host name, and which has none, writes a question mark.
        guard host != "?" else { return nil }
        self.init(host: host.isEmpty ? sender : String(host), port: port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
#endif
