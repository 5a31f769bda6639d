import CWaystation.Zlib
import WaystationStorage

/// Reads the contents of entries, one at a time, with two buffers that are allocated once.
final class EntryReader {
    private static let bufferSize = 64 << 10

    private let source: any ByteSource
    private let inflater: Inflater
    private let input: UnsafeMutableRawBufferPointer
    private let output: UnsafeMutableRawBufferPointer

    init(_ source: any ByteSource) throws(ZipError) {
        self.source = source
        inflater = try Inflater()
        input = .allocate(byteCount: Self.bufferSize, alignment: 16)
        output = .allocate(byteCount: Self.bufferSize, alignment: 16)
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    /// Passes an entry's bytes to `body` in order, in pieces of up to 64 KiB.
    ///
    /// Bytes beyond the entry's size are never passed on. Whether the CRC is right is only known at the end.
    ///
    /// - Throws: ``ZipError``, the source's error, or the error of `body`.
    func read(_ entry: ZipEntry, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var checksum = CRC32()
        var size = 0
        func deliver(_ bytes: UnsafeMutableRawBufferPointer.SubSequence) throws {
            let bytes = UnsafeRawBufferPointer(rebasing: bytes)
            guard bytes.count <= entry.size - size else { throw Self.wrongSize(entry) }
            size += bytes.count
            checksum.update(bytes)
            if !bytes.isEmpty { try body(bytes) }
        }
        switch entry.method {
        case .stored: try copy(entry, to: deliver)
        case .deflated: try inflate(entry, to: deliver)
        }
        guard size == entry.size else { throw Self.wrongSize(entry) }
        guard checksum.value == entry.crc32 else {
            throw ZipError(
                .checksumMismatch,
                entry: entry.path,
                "does not match its CRC-32; the archive is damaged: fetch it again"
            )
        }
    }

    private func copy(
        _ entry: ZipEntry,
        to deliver: (UnsafeMutableRawBufferPointer.SubSequence) throws -> Void
    ) throws {
        var done = 0
        while done < entry.compressedSize {
            let count = min(input.count, entry.compressedSize - done)
            try fill(input[..<count], at: entry.dataOffset + done)
            try deliver(input[..<count])
            done += count
        }
    }

    private func inflate(
        _ entry: ZipEntry,
        to deliver: (UnsafeMutableRawBufferPointer.SubSequence) throws -> Void
    ) throws {
        inflater.reset()
        var loaded = 0
        var unread = input[..<0]
        var filled = 0
        while true {
            if unread.isEmpty, loaded < entry.compressedSize {
                unread = input[..<min(input.count, entry.compressedSize - loaded)]
                try fill(unread, at: entry.dataOffset + loaded)
                loaded += unread.count
            }
            let (from, into) = (
                UnsafeRawBufferPointer(rebasing: unread), UnsafeMutableRawBufferPointer(rebasing: output[filled...])
            )
            guard let step = try inflater.step(from: from, into: into) else {
                throw Self.damaged(entry, "is not valid")
            }
            unread = unread.dropFirst(step.consumed)
            filled += step.produced
            if step.isAtEnd { break }
            if filled == output.count {
                try deliver(output[...])
                filled = 0
            } else if step.consumed == 0, step.produced == 0 {
                throw Self.damaged(entry, "ends too early")
            }
        }
        guard unread.isEmpty, loaded == entry.compressedSize else {
            throw Self.damaged(entry, "continues after its end")
        }
        try deliver(output[..<filled])
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer.SubSequence, at offset: Int) throws {
        let buffer = UnsafeMutableRawBufferPointer(rebasing: buffer)
        guard try source.read(at: offset, into: buffer) == buffer.count else { throw ZipError.truncatedSource }
    }

    private static func damaged(_ entry: ZipEntry, _ problem: String) -> ZipError {
        ZipError(
            .damagedData,
            entry: entry.path,
            "has compressed data that \(problem); the archive is damaged: fetch it again"
        )
    }

    private static func wrongSize(_ entry: ZipEntry) -> ZipError {
        ZipError(
            .sizeMismatch,
            entry: entry.path,
            "does not have the \(entry.size) bytes that its header states; fetch or create the archive again"
        )
    }
}

/// A CRC-32 as zip archives use it, updated piece by piece.
struct CRC32 {
    private(set) var value: UInt32 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard start != nil else { return }
        value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), start, bytes.count))
    }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { update($0) }
    }
}
