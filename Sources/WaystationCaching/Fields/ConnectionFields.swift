package import HTTPTypes
import WaystationFields

extension HTTPFields {
    /// The fields without those that apply to the connection only or to a proxy (RFC 9111 §3.1, RFC 9110 §7.6.1).
    ///
    /// Those are `Connection` and the fields that it lists, `Proxy-Connection`, `Keep-Alive`, `TE`,
    /// `Transfer-Encoding`, `Upgrade`, and the three proxy fields: `Proxy-Authenticate`, `Proxy-Authentication-Info`
    /// and `Proxy-Authorization`.
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

    /// All lines of a field as one value, or nil if there is none; a single line is returned without building a string.
    func combined(_ name: HTTPField.Name) -> String? {
        guard let first = firstIndex(where: { $0.name == name }) else { return nil }
        guard self[(first + 1)...].contains(where: { $0.name == name }) else { return self[first].value }
        return self[name]
    }

    /// The first line of a field that should have only one.
    package func firstValue(_ name: HTTPField.Name) -> String? {
        first { $0.name == name }?.value
    }
}
