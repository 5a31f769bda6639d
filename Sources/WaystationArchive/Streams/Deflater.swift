import CWaystation.Zlib

/// zlib's compressor, for data without a header; made for one entry.
final class Deflater {
    /// zlib keeps a pointer to this memory, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    init(level: Int) throws(ZipError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream,
            Int32(clamping: level),
            Z_DEFLATED,
            -MAX_WBITS,
            8,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        guard status == Z_OK else {
            stream.deallocate()
            throw ZipError.outOfMemory
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses bytes and passes on each full `buffer`; with the last bytes, also everything that zlib still holds
    /// back.
    func deflate(
        _ input: UnsafeMutableRawBufferPointer.SubSequence,
        isLast: Bool,
        through buffer: UnsafeMutableRawBufferPointer,
        to output: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let from = UnsafeMutableRawBufferPointer(rebasing: input)
        stream.pointee.next_in = from.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(clamping: from.count)
        repeat {
            stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(clamping: buffer.count)
            // zlib fails only if its state was not initialized or there is nothing to do; neither happens here.
            _ = CWaystation.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
            let produced = buffer.count - Int(stream.pointee.avail_out)
            if produced > 0 { try output(UnsafeRawBufferPointer(rebasing: buffer[..<produced])) }
            // When the buffer is not full, no more output is waiting.
        } while stream.pointee.avail_out == 0
    }
}
