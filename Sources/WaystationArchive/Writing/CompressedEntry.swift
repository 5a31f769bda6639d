import Foundation
import WaystationStorage

/// A source in the form in which an archive stores it.
///
/// Sizes and checksum are found before writing, since the local header contains them.
///
/// So an archive never needs data descriptors, or zip64 fields for sizes that turn out to be small. The compressed
/// bytes are kept in memory when they are few; a source with more compressed bytes is compressed a second time while it
/// is written.
struct CompressedEntry {
    let method: ZipMethod
    let crc32: UInt32
    let size: Int
    let compressedSize: Int

    private let source: any ByteSource
    private let level: Int
    private let kept: Data?

    /// The largest number of compressed bytes that are kept in memory.
    private static let maximumKept = 4 << 20
    private static let bufferSize = 64 << 10

    /// Reads and compresses all of a source.
    ///
    /// A source that deflating does not make smaller is stored, and so is one that it makes so small that a reader takes
    /// the entry for an attack.
    init(
        _ source: any ByteSource,
        compression: ZipWriter.Compression,
        maximumRatio: Int = ZipLimits().maximumRatio,
        maximumKept: Int = Self.maximumKept
    ) throws {
        self.source = source
        level = compression.level ?? 0
        var checksum = CRC32()
        var kept = Data()
        var compressedSize = 0
        try Self.pass(over: source, level: compression.level, reading: { checksum.update($0) }) { bytes in
            compressedSize += bytes.count
            if compressedSize <= maximumKept { kept.append(contentsOf: bytes) }
        }
        crc32 = checksum.value
        size = source.length
        let isDeflated =
            compression.level != nil && compressedSize < size && size / max(1, compressedSize) < max(1, maximumRatio)
        method = isDeflated ? .deflated : .stored
        self.compressedSize = isDeflated ? compressedSize : size
        self.kept = isDeflated == (compression.level != nil) && compressedSize <= maximumKept ? kept : nil
    }

    /// Passes on the bytes that go into the archive.
    ///
    /// - Throws: ``ZipError`` when the source has changed, or the error of the source or the output.
    func write(to output: (UnsafeRawBufferPointer) throws -> Void) throws {
        if let kept { return try kept.withUnsafeBytes { if !$0.isEmpty { try output($0) } } }
        var checksum = CRC32()
        var written = 0
        let level = method == .deflated ? level : nil
        try Self.pass(over: source, level: level, reading: { checksum.update($0) }) { bytes in
            written += bytes.count
            guard written <= compressedSize else { throw ZipError.sourceChanged }
            try output(bytes)
        }
        guard written == compressedSize, checksum.value == crc32 else { throw ZipError.sourceChanged }
    }

    /// Reads a source once, and compresses it if there is a level.
    private static func pass(
        over source: any ByteSource,
        level: Int?,
        reading: (UnsafeRawBufferPointer) -> Void,
        writing: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let input = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 16)
        defer {
            input.deallocate()
            output.deallocate()
        }
        let deflater = try level.map { level throws in try Deflater(level: level) }
        var offset = 0
        repeat {
            let chunk = input[..<min(input.count, source.length - offset)]
            let bytes = UnsafeMutableRawBufferPointer(rebasing: chunk)
            guard try source.read(at: offset, into: bytes) == bytes.count else { throw ZipError.sourceChanged }
            offset += bytes.count
            let read = UnsafeRawBufferPointer(bytes)
            reading(read)
            if let deflater {
                try deflater.deflate(read, isLast: offset == source.length, through: output, to: writing)
            } else if !read.isEmpty {
                try writing(read)
            }
        } while offset < source.length
    }
}

extension ZipError {
    static var sourceChanged: ZipError {
        ZipError(.sourceChanged, "a source changed while it was written; keep it unchanged and write the archive again")
    }
}
