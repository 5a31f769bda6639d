import Foundation
import HTTPTypes

/// New fields and times for a row, and the response that the row holds after the update.
///
/// The row with a given identifier never changes its body, status or vary record. So the whole updated row is known
/// beforehand, and writing it needs no read.
struct RowUpdate: Sendable {
    /// The response as look-ups will return it.
    let response: StoredResponse
    let head: EncodedHead
    /// The encoded ``BlockChecksums`` of the body.
    let checksums: Data

    init(of old: StoredResponse, headerFields: HTTPFields, requestTime: Date, responseTime: Date) {
        let head = StoredHead(
            key: old.key,
            status: old.status,
            headerFields: headerFields,
            vary: old.vary,
            // Rounded to microseconds, as a later look-up reads them.
            requestTime: Date(microseconds: requestTime.microseconds),
            responseTime: Date(microseconds: responseTime.microseconds)
        )
        self.head = EncodedHead(head)
        checksums = old.checksums.encoded
        response = StoredResponse(
            id: old.id,
            seal: self.head.seal(checksums: checksums, bodyLength: old.bodyLength, file: old.bodyFile),
            head: head,
            body: old.body,
            checksums: old.checksums,
            bodyFile: old.bodyFile
        )
    }
}
