package import Foundation
package import HTTPTypes
import Synchronization
public import WaystationHTTP

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

/// Header fields as the bytes of a field section: `name: value` and CR LF for each, in order (RFC 9112 §5).
///
/// Values are kept as bytes, since a field may hold text that is not valid UTF-8.
package enum FieldSection {
    package static func encode(_ fields: HTTPFields) -> Data {
        // An array of bytes takes a string's bytes in one copy, and `Data` does not.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fields.count * 48)
        for field in fields {
            bytes += field.name.rawName.utf8
            bytes += separator
            field.withUnsafeBytesOfValue { bytes += $0 }
            bytes += lineEnd
        }
        return Data(bytes)
    }

    /// - Returns: `nil` when the bytes are not a valid field section.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> HTTPFields? {
        var fields = HTTPFields()
        for line in Lines(bytes) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = KnownFieldNames.name(String(decoding: line[..<colon], as: UTF8.self))
            else { return nil }
            fields.append(HTTPField(name: name, value: line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }))
        }
        return fields
    }

    /// The values of the lines of one field, whose name is in lower case; the other lines are not decoded.
    static func lines(of name: String, in bytes: UnsafeRawBufferPointer) -> [String] {
        Lines(bytes).compactMap { line in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].equalsIgnoringCase(name.utf8)
            else {
                return nil
            }
            return String(decoding: line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        }
    }

    fileprivate static let separator = Array(": ".utf8)
    fileprivate static let lineEnd = Array("\r\n".utf8)
}

extension VaryKey {
    /// The key as a field section; a field that the request did not have is a line without a colon.
    ///
    /// Equal keys have equal bytes: the names are in lower case and sorted.
    var encoded: Data {
        var data = Data()
        for nominee in nominees {
            data.append(contentsOf: nominee.name.canonicalName.utf8)
            if let value = nominee.value {
                data.append(contentsOf: FieldSection.separator)
                data.append(contentsOf: value.utf8)
            }
            data.append(contentsOf: FieldSection.lineEnd)
        }
        return data
    }

    /// - Returns: `nil` when the bytes are not a valid key.
    init?(encoded bytes: UnsafeRawBufferPointer) {
        var nominees: [Nominee] = []
        for line in Lines(bytes) {
            let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            guard let name = KnownFieldNames.name(String(decoding: line[..<colon], as: UTF8.self)) else { return nil }
            // Skips the colon and the one space that was written: a value may itself begin with a space.
            let value = colon == line.endIndex ? nil : String(decoding: line[colon...].dropFirst(2), as: UTF8.self)
            nominees.append(Nominee(name: name, value: value))
        }
        self.init(nominees)
    }
}

/// The lines of a field section without their line ends.
private struct Lines: Sequence, IteratorProtocol {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    mutating func next() -> Slice<UnsafeRawBufferPointer>? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "\r")) ?? rest.endIndex
        defer { rest = rest[end...].dropFirst(2) }
        return rest[..<end]
    }
}

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

/// A complete response as it was stored: its head and its body.
///
/// Immutable; safe to use from any thread.
///
/// The store does not decide whether a response may still be used, must be validated, or suits a request
/// (``WaystationHTTP/VaryKey/matches(_:)``): the caller does.
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
