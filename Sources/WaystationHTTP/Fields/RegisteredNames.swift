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
        var names: Set<String> = []
        // Most values are one of these two, which add nothing: the first is a field above, and the second is the name of no
        // field (RFC 9110 §16.3.1).
        for value in connection where !value.equalsIgnoringCase("keep-alive") && !value.equalsIgnoringCase("close") {
            for member in value.listMembers { names.insert(member.lowercased()) }
        }
        return names
    }
}

/// The content codings of a body (RFC 9110 §8.4), as all who read a response understand them.
///
/// A client removes codings that it knows. If it does not know one of them, it removes none, as browsers do: the body is
/// the one that came, and so is the field. Servers name things there that are no codings, such as `utf-8` and
/// `aws-chunked`.
package struct ContentCodings: Equatable, Sendable {
    /// The codings in the order in which they were applied, in lower case.
    ///
    /// `identity`, and `none`, by which stores of objects and libcurl mean the same, are left out.
    package let names: [String]

    /// Reads the values of `Content-Encoding`.
    package init(_ values: [String]) {
        var names: [String] = []
        for value in values {
            for member in value.listMembers.map({ $0.lowercased() }) where !Self.empty.contains(member) {
                names.append(member)
            }
        }
        self.names = names
    }

    /// Whether a client removes the codings, so that the fields of the response describe other bytes than its body.
    package var areRemoved: Bool { !names.isEmpty && names.allSatisfy(Self.known.contains) }

    /// The codings that both engines know.
    private static let known: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]
    private static let empty: Set<String> = ["identity", "none"]
}
