import HTTPTypes
import WaystationFields

extension HTTPFields {
    /// The fields without those that end with the connection or belong to a proxy (RFC 9111 §3.1, RFC 9110 §7.6.1).
    ///
    /// Those are `Connection` and what it lists, `Proxy-Connection`, `Keep-Alive`, `TE`, `Transfer-Encoding`,
    /// `Upgrade`, and the three of the proxy: `Proxy-Authenticate`, `Proxy-Authentication-Info` and
    /// `Proxy-Authorization`.
    func withoutConnectionFields() -> HTTPFields {
        var excluded = Self.connectionFields
        if let connection = self[.connection] {
            for name in connection.listMembers { excluded.insert(name.lowercased()) }
        }
        guard contains(where: { excluded.contains($0.name.canonicalName) }) else { return self }
        return HTTPFields(filter { !excluded.contains($0.name.canonicalName) })
    }

    private static let connectionFields: Set<String> = [
        "connection", "proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]

    /// All lines of a field as one value, or nil where there is none; without building anything where there is one.
    func combined(_ name: HTTPField.Name) -> String? {
        guard let first = firstIndex(where: { $0.name == name }) else { return nil }
        guard self[(first + 1)...].contains(where: { $0.name == name }) else { return self[first].value }
        return self[name]
    }

    /// The first line of a field that ought to have one only.
    func firstValue(_ name: HTTPField.Name) -> String? {
        first { $0.name == name }?.value
    }
}
