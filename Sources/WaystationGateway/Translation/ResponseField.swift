#if Gateway
import Synchronization

/// The part of a field in the translation of a response, which depends on the field's name alone.
struct ResponseField: Sendable {
    /// The name in lower case.
    let lowered: String
    /// The browsers that get the field.
    private let use: Use

    private enum Use {
        case all
        /// The field would make a browser leave plain http, or the gateway's port.
        case proxied
        case nothing
    }

    private static let dropped = FieldNames.hopByHop.union(["content-length", "set-cookie", "set-cookie2"])
    private static let droppedOfNames: Set<String> = [
        "strict-transport-security", "alt-svc", "public-key-pins", "expect-ct",
    ]

    init(_ name: String) {
        lowered = name.lowercased()
        if Self.dropped.contains(lowered) {
            use = .nothing
        } else {
            use = Self.droppedOfNames.contains(lowered) ? .proxied : .all
        }
    }

    /// Whether a browser gets the field.
    ///
    /// - Parameter names: Whether the browser asked by the name of an origin.
    /// - Returns: False for fields of the connection, and for those that would lead away from the gateway's name.
    func isSent(toNames names: Bool) -> Bool {
        switch use {
        case .all: true
        case .proxied: !names
        case .nothing: false
        }
    }

    /// The fields that were seen last: an origin sends the same ones again and again.
    private static let seen = Mutex<[String: ResponseField]>([:])
    /// When there are more, all are dropped.
    private static let limit = 512

    /// The fields of a response with their names and values.
    static func known(_ fields: [String: String]) -> [(field: ResponseField, name: String, value: String)] {
        seen.withLock { seen in
            fields.map { name, value in
                if let known = seen[name] { return (known, name, value) }
                let field = ResponseField(name)
                if seen.count >= limit { seen.removeAll(keepingCapacity: true) }
                seen[name] = field
                return (field, name, value)
            }
        }
    }
}
#endif
