import CBzip2
import Foundation

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
