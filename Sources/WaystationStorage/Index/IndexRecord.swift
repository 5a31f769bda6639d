import Foundation
import WaystationCaching

/// One row of the index, as it was read.
struct IndexRecord: Sendable {
    /// The place of the body's bytes.
    enum Body: Sendable {
        case inline(Data)
        /// A path below `bodies/`.
        case file(String)

        var file: String? {
            if case .file(let name) = self { name } else { nil }
        }
    }

    var id: Int64
    var head: StoredHead
    var bodyLength: Int
    var checksums: BlockChecksums
    var body: Body
    var lastUsed: Date
    /// The checksum of everything but `id` and `lastUsed`, which may change although the response does not.
    var seal: UInt64
    /// The object that callers derive from the head, if it is still in memory.
    var prepared: PreparedValue

    var bodyFile: String? { body.file }
}

/// The checksum over a row of the index: detects rows whose parts do not belong together or whose bytes have changed.
enum Seal {
    static func of(
        key: RequestKey,
        numbers: (status: Int, requestTime: Int64, responseTime: Int64, bodyLength: Int),
        file: String?,
        fields: UnsafeRawBufferPointer,
        vary: UnsafeRawBufferPointer,
        checksums: UnsafeRawBufferPointer
    ) -> UInt64 {
        // The hash of each part is the seed of the next, so a byte cannot move from one part to the next unnoticed.
        var hash: UInt64 = 0
        for number in [Int64(numbers.status), numbers.requestTime, numbers.responseTime, Int64(numbers.bodyLength)] {
            hash = (hash ^ UInt64(bitPattern: number)) &* 0x9E37_79B1_85EB_CA87
            hash ^= hash >> 29
        }
        for text in [key.method, key.url, key.partition, file ?? ""] {
            var text = text
            hash = text.withUTF8 { XXH64.of(UnsafeRawBufferPointer($0), seed: hash) }
        }
        hash = XXH64.of(fields, seed: hash)
        hash = XXH64.of(vary, seed: hash)
        return XXH64.of(checksums, seed: hash)
    }
}
