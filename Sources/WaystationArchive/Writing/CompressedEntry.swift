import Foundation
import WaystationFileSystem

/// What a source becomes when it is put into an archive, found out ahead of writing it, since the local header has it.
///
/// So no archive needs data descriptors or zip64 fields for sizes that turn out to be small. The compressed bytes are
/// kept when they are few; a source whose bytes are many is compressed a second time while it is written.
struct CompressedEntry {
    let method: ZipMethod
    let crc32: UInt32
    let size: Int
    let compressedSize: Int

    private let source: any ByteSource
    private let level: Int
    private let kept: Data?

    /// How many compressed bytes are kept at most.
    private static let maximumKept = 4 << 20
    private static let bufferSize = 64 << 10

    /// Reads and compresses all of a source.
    ///
    /// Deflating is given up for what it does not make smaller.
    init(_ source: any ByteSource, compression: ZipWriter.Compression, maximumKept: Int = Self.maximumKept) throws {
        self.source = source
        level = compression.level ?? 0
        var checksum = Checksum()
        var kept = Data()
        var compressedSize = 0
        try Self.pass(over: source, level: compression.level, reading: { checksum.update($0) }) { bytes in
            compressedSize += bytes.count
            if compressedSize <= maximumKept { kept.append(contentsOf: bytes) }
        }
        crc32 = checksum.value
        size = source.length
        let isDeflated = compression.level != nil && compressedSize < size
        method = isDeflated ? .deflated : .stored
        self.compressedSize = isDeflated ? compressedSize : size
        self.kept = isDeflated == (compression.level != nil) && compressedSize <= maximumKept ? kept : nil
    }

    /// Hands on the bytes that belong into the archive.
    ///
    /// - Throws: ``ZipError`` when the source is no longer what it was, or what source or output throw.
    func write(to output: (UnsafeRawBufferPointer) throws -> Void) throws {
        if let kept { return try kept.withUnsafeBytes { if !$0.isEmpty { try output($0) } } }
        var checksum = Checksum()
        var written = 0
        let level = method == .deflated ? level : nil
        try Self.pass(over: source, level: level, reading: { checksum.update($0) }) { bytes in
            written += bytes.count
            guard written <= compressedSize else { throw ZipError.sourceChanged }
            try output(bytes)
        }
        guard written == compressedSize, checksum.value == crc32 else { throw ZipError.sourceChanged }
    }

    /// Goes through a source once, compressing it unless there is no level.
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
            reading(UnsafeRawBufferPointer(bytes))
            if let deflater {
                try deflater.deflate(chunk, isLast: offset == source.length, through: output, to: writing)
            } else if !bytes.isEmpty {
                try writing(UnsafeRawBufferPointer(bytes))
            }
        } while offset < source.length
    }
}

extension ZipError {
    static var sourceChanged: ZipError {
        ZipError(.sourceChanged, "what was to be written changed meanwhile; leave it alone and write the archive anew")
    }
}
