import CWaystation.Bzip2
import Foundation
import WaystationStorage

/// Decompresses one bzip2 stream from a range of the patch, piece by piece.
///
/// Takes at most about 3.7 MiB (for blocks of 900 kB, as `bzip2 -9` makes them) and 64 KiB for the compressed bytes.
/// The stream must fill its range exactly.
final class BzipDecoder {
    private static let inputCapacity = 64 << 10

    private let block: String
    private let source: any ByteSource
    /// The range that has not been read from the source yet.
    private var unread: Range<Int>
    // libbz2 remembers the address of the stream, so it must not move.
    private let stream: UnsafeMutablePointer<bz_stream>
    private let input: UnsafeMutableRawBufferPointer
    private var hasEnded = false

    /// Makes a decoder for the stream in a range of a source; `block` names the stream in errors.
    init(_ block: String, _ source: any ByteSource, _ range: Range<Int>) throws(PatchError) {
        self.block = block
        self.source = source
        unread = range
        stream = .allocate(capacity: 1)
        stream.initialize(to: bz_stream())
        input = .allocate(byteCount: min(Self.inputCapacity, max(1, range.count)), alignment: 16)
        guard BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK else {
            throw PatchError(.outOfMemory, "there is not enough memory to decompress the \(block) block")
        }
    }

    deinit {
        // Harmless for a stream that was never initialised.
        BZ2_bzDecompressEnd(stream)
        stream.deallocate()
        input.deallocate()
    }

    /// Fills the whole buffer.
    ///
    /// - Throws: ``PatchError`` with `endsEarly` when the block has fewer bytes, `badCompression` when it is damaged.
    func read(into output: UnsafeMutableRawBufferPointer) throws(PatchError) {
        let count = try decode(into: output)
        guard count == output.count else {
            throw PatchError(
                .endsEarly,
                "the \(block) block ends before the new bytes are complete: the patch is damaged"
            )
        }
    }

    /// Checks that the stream and its range end at the present position.
    func finish() throws(PatchError) {
        // libbz2 reports the stream's end, and checks its checksum, only when more bytes are requested.
        var surplus: UInt8 = 0
        let count = try withUnsafeMutableBytes(of: &surplus) { byte throws(PatchError) in try decode(into: byte) }
        guard count == 0, stream.pointee.avail_in == 0, unread.isEmpty else {
            throw PatchError(
                .leftover,
                "the \(block) block continues after the new bytes are complete: the patch is damaged"
            )
        }
    }

    /// Fills a buffer, or as much of it as the stream has.
    private func decode(into output: UnsafeMutableRawBufferPointer) throws(PatchError) -> Int {
        var filled = 0
        while filled < output.count, !hasEnded {
            if stream.pointee.avail_in == 0 { try refill() }
            let room = min(output.count - filled, Int(UInt32.max))
            stream.pointee.next_out = output.baseAddress?.advanced(by: filled).assumingMemoryBound(to: CChar.self)
            stream.pointee.avail_out = UInt32(room)
            let hadInput = stream.pointee.avail_in > 0
            let status = BZ2_bzDecompress(stream)
            let produced = room - Int(stream.pointee.avail_out)
            filled += produced
            switch status {
            case BZ_STREAM_END:
                hasEnded = true
            case BZ_OK where hadInput || produced > 0:
                continue
            case BZ_OK:
                throw PatchError(.badCompression, "the \(block) block is incomplete: fetch the patch again")
            case BZ_MEM_ERROR:
                throw PatchError(.outOfMemory, "there is not enough memory to decompress the \(block) block")
            default:
                throw PatchError(
                    .badCompression,
                    "the \(block) block is not valid bzip2 data (bzip2 status \(status)): fetch the patch again"
                )
            }
        }
        return filled
    }

    private func refill() throws(PatchError) {
        let count = min(input.count, unread.count)
        guard count > 0 else { return }
        try source.fill(UnsafeMutableRawBufferPointer(rebasing: input[..<count]), at: unread.lowerBound, of: "patch")
        unread = unread.lowerBound + count..<unread.upperBound
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: CChar.self)
        stream.pointee.avail_in = UInt32(count)
    }
}

/// Compresses bytes into one bzip2 stream in memory, in blocks of 900 kB.
///
/// Takes about 7.5 MiB, plus the result.
final class BzipEncoder {
    private(set) var compressed = Data()

    // libbz2 remembers the address of the stream, so it must not move.
    private let stream: UnsafeMutablePointer<bz_stream>
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    init() throws(PatchError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: bz_stream())
        guard BZ2_bzCompressInit(stream, 9, 0, 0) == BZ_OK else {
            throw PatchError(.outOfMemory, "there is not enough memory to compress a block of the patch")
        }
    }

    deinit {
        BZ2_bzCompressEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(PatchError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = min(rest.count, Int(UInt32.max))
            // libbz2 only reads from this pointer.
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: rest.baseAddress?.assumingMemoryBound(to: CChar.self)
            )
            stream.pointee.avail_in = UInt32(count)
            while stream.pointee.avail_in > 0 {
                try run(BZ_RUN, expecting: BZ_RUN_OK)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Ends the stream; ``compressed`` is complete afterwards.
    func finish() throws(PatchError) {
        stream.pointee.avail_in = 0
        while try run(BZ_FINISH, expecting: BZ_FINISH_OK) != BZ_STREAM_END {}
    }

    @discardableResult
    private func run(_ action: Int32, expecting expected: Int32) throws(PatchError) -> Int32 {
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: CChar.self)
        stream.pointee.avail_out = UInt32(output.count)
        let status = BZ2_bzCompress(stream, action)
        guard status == expected || status == BZ_STREAM_END else {
            throw PatchError(.badCompression, "bzip2 cannot compress the patch (status \(status))")
        }
        compressed.append(contentsOf: output[..<(output.count - Int(stream.pointee.avail_out))])
        return status
    }
}

extension ByteSource {
    /// Fills the whole buffer from inside the source's length; `name` names the source in errors.
    ///
    /// - Throws: ``PatchError`` with `unreadable` when reading fails or the source has become shorter.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int, of name: String) throws(PatchError) {
        let count: Int
        do {
            count = try read(at: offset, into: buffer)
        } catch {
            throw PatchError(.unreadable, "the \(name) bytes cannot be read at \(offset)", cause: error)
        }
        guard count == buffer.count else {
            throw PatchError(
                .unreadable,
                "the \(name) bytes end at \(offset + count) instead of \(length): they changed while they were read"
            )
        }
    }
}
