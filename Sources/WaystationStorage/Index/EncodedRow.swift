import Foundation
import WaystationCaching

/// A response in the form of a row, with all columns that the seal covers and without a body in the index.
struct EncodedRow: Sendable {
    let key: RequestKey
    let status: Int
    let fields: Data
    let vary: Data
    let requestTime: Int64
    let responseTime: Int64
    let bodyLength: Int
    /// The body's path below `bodies/`; `nil` for a body in the index.
    let bodyFile: String?
    /// The encoded ``BlockChecksums`` of the body.
    let checksums: Data
    let seal: UInt64

    init(_ head: StoredHead, bodyLength: Int, bodyFile: String?, checksums: BlockChecksums) {
        let (fields, vary, checksums) = (FieldSection.encode(head.headerFields), head.vary.encoded, checksums.encoded)
        let numbers = (head.status, head.requestTime.microseconds, head.responseTime.microseconds, bodyLength)
        key = head.key
        (status, requestTime, responseTime, self.bodyLength) = numbers
        (self.fields, self.vary, self.checksums) = (fields, vary, checksums)
        self.bodyFile = bodyFile
        seal = fields.withUnsafeBytes { fields in
            vary.withUnsafeBytes { vary in
                checksums.withUnsafeBytes { checksums in
                    Seal.of(
                        key: head.key,
                        numbers: numbers,
                        file: bodyFile,
                        fields: fields,
                        vary: vary,
                        checksums: checksums
                    )
                }
            }
        }
    }

    /// The bytes that the response counts towards ``StoreLimits/maximumSize``.
    var size: Int { bodyLength + fields.count + vary.count + key.url.utf8.count }
}
