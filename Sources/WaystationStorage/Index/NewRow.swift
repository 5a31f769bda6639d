import Foundation

/// A response in the form of a row, before the index adds it.
struct NewRow: Sendable {
    let head: EncodedHead
    let body: IndexRecord.Body
    let bodyLength: Int
    /// The encoded ``BlockChecksums`` of the body.
    let checksums: Data
    let lastUsed: Date
    let seal: UInt64
    /// The bytes that the response counts towards ``StoreLimits/maximumSize``.
    let size: Int

    init(head: StoredHead, body: IndexRecord.Body, bodyLength: Int, checksums: BlockChecksums, lastUsed: Date) {
        self.head = EncodedHead(head)
        self.body = body
        self.bodyLength = bodyLength
        self.checksums = checksums.encoded
        self.lastUsed = lastUsed
        size = self.head.size(bodyLength: bodyLength)
        seal = self.head.seal(checksums: self.checksums, bodyLength: bodyLength, file: body.file)
    }
}
