#if NIO
import WaystationFields

/// The fields of a request while it is composed.
struct ComposedFields {
    /// The value of `Host`, or of `:authority` in HTTP/2.
    private(set) var authority: String
    private(set) var list: [(name: String, value: String)] = []
    /// Whether a field has set the authority.
    private var hasHost = false

    init(_ authority: String) {
        self.authority = authority
        list.reserveCapacity(12)
    }

    /// Adds the fields of the request itself.
    mutating func add(_ fields: [String: String]) throws {
        for (name, value) in fields { try add(name, value) }
    }

    /// Adds those fields whose names are not in the list yet.
    mutating func addMissing(_ fields: [(name: String, value: String)]) throws {
        let count = list.count
        for (name, value) in fields
        where !list[..<count].contains(where: { FieldSyntax.isSame($0.name, name) }) {
            if hasHost, FieldSyntax.isSame(name, "Host") { continue }
            try add(name, value)
        }
    }

    private mutating func add(_ name: String, _ value: String) throws {
        guard FieldSyntax.isToken(name) else {
            throw TransportFailure(
                .badURL,
                "The field name \(name.quoted()) has characters that names cannot have. Correct the request."
            )
        }
        guard FieldSyntax.isValue(value) else {
            throw TransportFailure(
                .badURL,
                "The value of the field \(name) has a line break or a NUL: \(value.quoted()). Remove it."
            )
        }
        switch name.utf8.count {
        case 4 where FieldSyntax.isSame(name, "Host"):
            guard FieldSyntax.isHostValue(value) else {
                throw TransportFailure(
                    .badURL,
                    "The Host field \(value.quoted()) is not a host name. Set a name with an optional port."
                )
            }
            authority = value
            hasHost = true
        // The framing is the engine's: a wrong length would let one request be read as two (RFC 9112 §11.2).
        case 14 where FieldSyntax.isSame(name, "Content-Length"): return
        case 17 where FieldSyntax.isSame(name, "Transfer-Encoding"): return
        default: list.append((name, FieldSyntax.trimmed(value)))
        }
    }
}

extension FieldSyntax {
    /// Whether text can be the value of `Host`: no white space, no delimiters of a URL.
    fileprivate static func isHostValue(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"/?#@\\".utf8.contains($0) }
    }
}
#endif
