/// The properties of methods, as the registry of HTTP has them (RFC 9110 §9.2 and §16.1.1).
///
/// Names of methods are case-sensitive.
package enum Methods {
    private static let safe: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY",
    ]

    /// Whether a request with this method asks for no change: its response invalidates nothing.
    package static func isSafe(_ method: String) -> Bool { safe.contains(method) }

    /// Whether a request with this method may be sent again when it is unknown whether the server acted on it.
    package static func isIdempotent(_ method: String) -> Bool {
        safe.contains(method) || method == "PUT" || method == "DELETE"
    }
}

/// Fields that belong to one connection (RFC 9110 §7.6.1), by their names in lower case.
package enum ConnectionFields {
    /// The fields that HTTP/2 and later versions do not have (RFC 9113 §8.2.2).
    package static let ofHTTP1: Set<String> = [
        "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade",
    ]

    /// The fields that no cache stores and no gateway passes on (RFC 9111 §3.1): those of a connection, and those meant for
    /// the next proxy.
    package static let all = ofHTTP1.union([
        "te", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ])

    /// The names, in lower case, that values of a `Connection` field add to these.
    package static func named(by connection: [String]) -> Set<String> {
        Set(connection.lazy.flatMap(\.listMembers).map { $0.lowercased() })
    }
}
