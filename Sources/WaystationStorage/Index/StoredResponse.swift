public import Foundation
public import HTTPTypes
package import Synchronization

/// A complete response as it was stored.
///
/// Immutable; safe to use from any thread.
///
/// The store does not decide whether a response may still be used, must be validated, or suits a request
/// (``VaryRecord/matches(_:)``): the caller does.
public final class StoredResponse: Sendable {
    /// The key of the request that this response answers.
    public let key: RequestKey

    /// The identifier of this response in its store; never used again for another response.
    public let id: Int64

    /// The status code.
    public let status: Int

    /// The header fields as they were stored: their order, their case and repeated fields are kept.
    public let headerFields: HTTPFields

    /// The request fields that selected this response.
    public let vary: VaryRecord

    /// When the request was sent, to the microsecond.
    public let requestTime: Date

    /// When the response arrived or was last freshened, to the microsecond.
    ///
    /// Age is calculated from this time.
    public let responseTime: Date

    /// The body.
    public let body: StoredBody

    /// The number of bytes in the body.
    public var bodyLength: Int { body.length }

    /// An object that the caller derives from this response once, such as a finished `HTTPURLResponse`.
    ///
    /// It lives as long as this instance; while a response is in memory, look-ups return the same instance.
    package let prepared = Mutex<(any Sendable)?>(nil)

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
            bodyFile: record.bodyFile
        )
    }

    init(
        id: Int64,
        seal: UInt64,
        head: StoredHead,
        body: StoredBody,
        checksums: BlockChecksums,
        bodyFile: String?
    ) {
        self.id = id
        self.seal = seal
        self.key = head.key
        self.status = head.status
        self.headerFields = head.headerFields
        self.vary = head.vary
        self.requestTime = head.requestTime
        self.responseTime = head.responseTime
        self.body = body
        self.checksums = checksums
        self.bodyFile = bodyFile
    }
}
