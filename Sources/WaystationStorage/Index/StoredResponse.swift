import Synchronization
public import WaystationCaching

/// A complete response as it was stored: its head and its body.
///
/// Immutable; safe to use from any thread.
///
/// The store does not decide whether a response may still be used, must be validated, or suits a request
/// (``WaystationCaching/VaryKey/matches(_:)``): the caller does.
public final class StoredResponse: Sendable {
    /// The identifier of this response in its store; never used again for another response.
    public let id: Int64

    /// The head; its times are exact to the microsecond, and its content length is that of the body.
    public let head: StoredHead

    /// The body.
    public let body: StoredBody

    /// An object that the caller derives from the head once, such as a finished `HTTPURLResponse`.
    ///
    /// Look-ups return it again as long as the head is in memory. It must not refer to the body, which may be in memory
    /// for one load only.
    package let prepared: PreparedValue

    /// The index's checksum over this response: with ``id`` it shows whether a row still holds the same response.
    let seal: UInt64

    let checksums: BlockChecksums

    /// The body's path below `bodies/`; `nil` for a body in the index.
    let bodyFile: String?

    convenience init(_ record: IndexRecord, body: StoredBody) {
        self.init(
            id: record.id,
            seal: record.seal,
            head: record.head,
            body: body,
            checksums: record.checksums,
            bodyFile: record.bodyFile,
            prepared: record.prepared
        )
    }

    init(
        id: Int64,
        seal: UInt64,
        head: StoredHead,
        body: StoredBody,
        checksums: BlockChecksums,
        bodyFile: String?,
        prepared: PreparedValue = PreparedValue()
    ) {
        self.id = id
        self.seal = seal
        var head = head
        head.contentLength = body.length
        self.head = head
        self.body = body
        self.checksums = checksums
        self.bodyFile = bodyFile
        self.prepared = prepared
    }
}

extension StoredResponse {
    /// The response with an updated head, and the row that holds it.
    ///
    /// The row with a given identifier never changes its body, status or vary key. So the whole updated row is known
    /// beforehand, and writing it needs no read.
    func freshened(_ head: StoredHead) -> (response: StoredResponse, row: EncodedRow) {
        let row = EncodedRow(head, bodyLength: body.length, bodyFile: bodyFile, checksums: checksums)
        let response = StoredResponse(
            id: id,
            seal: row.seal,
            head: head,
            body: body,
            checksums: checksums,
            bodyFile: bodyFile
        )
        return (response, row)
    }
}

/// A place for one object that a caller derives from a head; empty at first.
///
/// While a head stays in memory, all instances of ``StoredResponse`` with this head share the place.
package final class PreparedValue: Sendable {
    private let value = Mutex<(any Sendable)?>(nil)

    /// Gives access to the object, under a lock.
    package func withLock<Result: Sendable>(_ body: (inout (any Sendable)?) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
}
