#if NIO
import NIOHTTP1

extension HTTPRequestHead {
    /// The request as HTTP/1.1 sends it, with the fields of its framing (RFC 9112 §6).
    init(_ head: EngineRequestHead) {
        var fields: [(String, String)] = []
        fields.reserveCapacity(head.fields.count + 2)
        fields.append(("Host", head.authority))
        for (name, value) in head.fields { fields.append((name, value)) }
        switch head.framing {
        case .none: break
        case .length(let length): fields.append(("Content-Length", String(length)))
        case .unknownLength: fields.append(("Transfer-Encoding", "chunked"))
        }
        self.init(
            version: .http1_1,
            method: HTTPMethod(rawValue: head.method),
            uri: head.target,
            headers: HTTPHeaders(fields)
        )
    }
}

extension HTTPResponseHead {
    /// Whether the parser removes all transfer codings: it removes chunked, once and as the last one (RFC 9112 §6.1).
    var hasKnownTransferCoding: Bool {
        // White space after a value is not a part of it (RFC 9112 §5).
        let codings = headers[canonicalForm: "Transfer-Encoding"].map { FieldSyntax.trimmed(String($0)).lowercased() }
        let removed = codings.filter { $0 != "identity" }
        return removed.isEmpty || (removed == ["chunked"] && codings.last == "chunked")
    }
}

extension EngineResponseHead {
    init(_ head: HTTPResponseHead) {
        self.init(status: Int(head.status.code), fields: head.headers.map { ($0.name, $0.value) })
    }
}
#endif
