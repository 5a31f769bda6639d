import Foundation

/// New fields and times for a row, and the response that it holds then.
///
/// A row's identifier stands for one body, status and vary record for ever: so all that the row becomes is known
/// beforehand, and nothing need be read to write it.
struct RowUpdate: Sendable {
    /// The response as look-ups will return it.
    let response: StoredResponse
    let head: EncodedHead
    /// The encoded ``BlockChecksums`` of the body.
    let checksums: Data

    init(_ update: FieldUpdate) {
        let old = update.response
        let head = ResponseHead(
            key: old.key,
            status: old.status,
            headerFields: update.headerFields,
            vary: old.vary,
            // As they will be read.
            requestTime: Date(microseconds: update.requestTime.microseconds),
            responseTime: Date(microseconds: update.responseTime.microseconds)
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
