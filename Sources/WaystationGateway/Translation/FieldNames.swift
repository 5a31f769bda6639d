#if Gateway
import WaystationFields

/// Names of fields that a gateway does not pass on, in lower case.
enum FieldNames {
    /// The fields of one connection (RFC 9110 §7.6.1).
    static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    ]

    /// The names that a `Connection` field adds to these.
    static func named(by connection: [String]) -> Set<String> {
        Set(connection.lazy.flatMap(\.listMembers).map { $0.lowercased() })
    }
}
#endif
