#if Gateway
import NIOCore

/// The host and the port that `CONNECT` names (RFC 9110 §9.3.6).
struct ConnectTarget: Equatable, Sendable {
    /// A name, or an address; that of IPv6 without its brackets.
    let host: String
    let port: Int

    /// Reads the target of a request.
    ///
    /// Addresses are taken in their usual notation only: programs disagree about `0x7f.1`, `2130706433` and `127.1`.
    init?(_ authority: String) {
        guard let colon = authority.lastIndex(of: ":") else { return nil }
        guard let port = OriginName.port(authority[authority.index(after: colon)...]) else { return nil }
        self.port = port
        let host = authority[..<colon]
        if host.first == "[" {
            let address = host.dropFirst().dropLast()
            guard host.last == "]", !address.contains("%"), address.contains(":"), Self.isAddress(address) else {
                return nil
            }
            self.host = String(address)
            return
        }
        guard OriginName(scheme: "https", host: String(host), port: nil) != nil else { return nil }
        // A name whose last label is a number is an address (URL Standard, "ends in a number").
        let last = host.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        let isNumber = last.utf8.allSatisfy { (0x30...0x39).contains($0) } || last.lowercased().hasPrefix("0x")
        guard !isNumber || Self.isAddress(host) else { return nil }
        self.host = String(host)
    }

    private static func isAddress(_ text: Substring) -> Bool {
        (try? SocketAddress(ipAddress: String(text), port: 0)) != nil
    }
}
#endif
