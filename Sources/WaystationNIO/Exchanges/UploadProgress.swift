#if NIO
/// The bytes of a request's body that were handed to its connection, and the rule that their number must match the
/// length that was announced.
struct UploadProgress: Equatable {
    /// The announced length; nil for a stream without one.
    let expected: Int64?
    private(set) var total: Int64 = 0
    /// The number of sent bytes that no call has reported to the receiver yet.
    private(set) var unreported: Int64 = 0

    init(_ framing: EngineRequestHead.Framing) {
        switch framing {
        case .none: expected = 0
        case .length(let length): expected = length
        case .unknownLength: expected = nil
        }
    }

    /// Records that bytes are sent next.
    ///
    /// - Throws: A `TransportFailure` if these are more than were announced.
    mutating func send(_ count: Int) throws {
        let (sum, overflows) = total.addingReportingOverflow(Int64(count))
        guard !overflows, sum <= expected ?? .max else {
            throw Self.mismatch("more than the \(expected ?? 0) bytes that its Content-Length announces")
        }
        total = sum
        unreported += Int64(count)
    }

    /// Records that the body ended.
    ///
    /// - Throws: A `TransportFailure` if it is shorter than announced.
    func end() throws {
        guard let expected, total < expected else { return }
        throw Self.mismatch("only \(total) of the \(expected) bytes that its Content-Length announces")
    }

    /// The count, total and expectation to report, or nil if nothing was sent since the last call.
    mutating func takeReport() -> (count: Int64, total: Int64, expected: Int64)? {
        guard unreported > 0 else { return nil }
        defer { unreported = 0 }
        return (unreported, total, expected ?? -1)
    }

    private static func mismatch(_ what: String) -> TransportFailure {
        TransportFailure(
            .requestBodyStreamExhausted,
            "The stream of the request's body has \(what). Correct the field, or leave it out."
        )
    }
}
#endif
