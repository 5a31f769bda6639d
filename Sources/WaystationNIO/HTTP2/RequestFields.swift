#if NIO
import NIOHPACK
import WaystationFields

/// The fields of a request as HTTP/2 carries them (RFC 9113 §8.2 and §8.3.1).
enum RequestFields {
    /// Fields that only HTTP/1.1 knows (RFC 9113 §8.2.2); `Host` becomes `:authority`.
    private static let dropped: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host", "content-length",
        "http2-settings",
    ]
    /// Secrets are kept out of the compression's table (RFC 7541 §7.1.3).
    private static let secret: Set<String> = ["authorization", "proxy-authorization"]

    /// Makes the header block of a request.
    ///
    /// - Parameter head: The head of the request.
    /// - Returns: The block, or the part of the request that cannot be sent.
    static func make(_ head: EngineRequestHead) -> Result<HPACKHeaders, Invalid> {
        // A CONNECT opens a tunnel, and has neither a scheme nor a path (RFC 9113 §8.5).
        guard head.method != "CONNECT" else { return .failure(Invalid(name: ":method", value: head.method)) }
        for (name, value) in [(":method", head.method), (":scheme", head.scheme), (":path", head.target)] {
            guard isPseudoValue(value), !value.isEmpty else { return .failure(Invalid(name: name, value: value)) }
        }
        guard isPseudoValue(head.authority) else { return .failure(Invalid(name: ":authority", value: head.authority)) }
        var headers = HPACKHeaders()
        headers.reserveCapacity(head.fields.count + 5)
        headers.add(name: ":method", value: head.method)
        headers.add(name: ":scheme", value: head.scheme)
        headers.add(name: ":authority", value: head.authority)
        headers.add(name: ":path", value: head.target)
        let named = connectionOptions(head.fields)
        for (original, value) in head.fields {
            let name = original.lowercased()
            guard !dropped.contains(name), !named.contains(name) else { continue }
            // RFC 9113 §8.2.2: TE has no other value here.
            guard name != "te" || value.lowercased() == "trailers" else { continue }
            guard !FieldText.holdsBytes(value) else { return .failure(Invalid(name: original, value: nil)) }
            guard isName(name), isValue(value) else { return .failure(Invalid(name: original, value: value)) }
            headers.add(name: name, value: value, indexing: secret.contains(name) ? .neverIndexed : .indexable)
        }
        if case .length(let length) = head.framing {
            headers.add(name: "content-length", value: "\(length)")
        }
        return .success(headers)
    }

    /// A part of a request that HTTP/2 cannot carry.
    struct Invalid: Error, Equatable {
        var name: String
        /// Nil for a value that is not UTF-8, which the codec cannot send; HTTP/1.1 can.
        var value: String?

        var failure: ExchangeFailure {
            guard value != nil else {
                var failure = ExchangeFailure.unprocessed(
                    .connectionEnded,
                    "The request has the field \(name) with a value that is not UTF-8, which cannot be sent over HTTP/2. "
                        + "Allow HTTP/1.1."
                )
                failure.requiresHTTP1 = true
                return failure
            }
            return ExchangeFailure(
                kind: .invalidRequest,
                // The value may be a secret.
                explanation: "The value of \(name.quoted()) in the request cannot be sent by HTTP/2. Change it."
            )
        }
    }

    /// Checks that a block is not larger than the server has announced to accept (RFC 9113 §6.5.2).
    ///
    /// A server may end the connection, and so the loads on it, for the sake of a larger one.
    ///
    /// - Parameters:
    ///   - block: The block.
    ///   - limit: The server's SETTINGS_MAX_HEADER_LIST_SIZE, if it has announced one.
    /// - Returns: Nil if the block can be sent.
    static func excess(of block: HPACKHeaders, over limit: Int?) -> ExchangeFailure? {
        guard let limit else { return nil }
        let size = block.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
        guard size > limit else { return nil }
        return ExchangeFailure(
            kind: .invalidRequest,
            explanation: """
                The fields of the request have \(size) bytes, counted as HTTP/2 does, and the server takes \(limit) at most \
                (SETTINGS_MAX_HEADER_LIST_SIZE). Send fewer or shorter fields.
                """
        )
    }

    /// The names of fields that `Connection` lists: they are meant for an HTTP/1.1 connection (RFC 9110 §7.6.1).
    private static func connectionOptions(_ fields: [(name: String, value: String)]) -> Set<String> {
        var names: Set<String> = []
        for (name, value) in fields where name.lowercased() == "connection" {
            for option in value.split(separator: ",") {
                names.insert(option.filter { $0 != " " && $0 != "\t" }.lowercased())
            }
        }
        return names
    }

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    /// RFC 9113 §8.2.1.
    private static func isValue(_ value: String) -> Bool {
        guard value.utf8.allSatisfy({ $0 != 0 && $0 != 0x0A && $0 != 0x0D }) else { return false }
        guard let first = value.utf8.first, let last = value.utf8.last else { return true }
        return ![0x20, 0x09].contains(first) && ![0x20, 0x09].contains(last)
    }

    private static func isPseudoValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}
#endif
