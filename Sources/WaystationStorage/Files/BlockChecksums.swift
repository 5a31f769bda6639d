import Foundation

/// One checksum for each block of a body, so that any range can be checked by reading only the blocks it touches.
struct BlockChecksums: Equatable, Sendable {
    static let blockSize = 64 * 1024

    private(set) var values: [UInt64] = []

    init() {}

    init(of body: Data) {
        var rest = body[...]
        while !rest.isEmpty {
            append(block: rest.prefix(Self.blockSize))
            rest = rest.dropFirst(Self.blockSize)
        }
    }

    /// Decodes what ``encoded`` returned; `nil` when the data cannot belong to a body of that length.
    init?(encoded: UnsafeRawBufferPointer, bodyLength: Int) {
        guard bodyLength >= 0, encoded.count == Self.count(forLength: bodyLength) * 8 else { return nil }
        values = (0..<encoded.count / 8).map {
            UInt64(littleEndian: encoded.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
        }
    }

    /// Whether these are the checksums of a body.
    func match(_ body: UnsafeRawBufferPointer) -> Bool {
        guard values.count == Self.count(forLength: body.count) else { return false }
        return values.indices.allSatisfy { number in
            let start = number * Self.blockSize
            let end = min(start + Self.blockSize, body.count)
            return XXH64.of(UnsafeRawBufferPointer(rebasing: body[start..<end])) == values[number]
        }
    }

    mutating func append(block: Data) { values.append(XXH64.of(block)) }

    static func count(forLength length: Int) -> Int { (length + blockSize - 1) / blockSize }

    var encoded: Data {
        var data = Data(capacity: values.count * 8)
        for value in values {
            withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
        }
        return data
    }
}
