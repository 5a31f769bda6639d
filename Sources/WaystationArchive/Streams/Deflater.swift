import CWaystation.Zlib

/// zlib's compressor, for one stream after another.
package final class Deflater {
    /// The form of a stream.
    package enum Format: Sendable {
        /// Without a header, as the entries of a zip are (RFC 1951).
        case raw
        /// A member of gzip (RFC 1952), without a name and a time.
        case gzip
    }

    /// zlib keeps a pointer to this memory, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    package init(level: Int, format: Format = .raw) throws(ZipError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream,
            Int32(clamping: level),
            Z_DEFLATED,
            format == .raw ? -MAX_WBITS : MAX_WBITS + 16,
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

    /// Compresses up to 4 GiB of bytes and passes on each full `buffer`; with the last bytes, also everything that zlib
    /// still holds back.
    ///
    /// After the last bytes the next stream begins.
    package func deflate(
        _ input: UnsafeRawBufferPointer,
        isLast: Bool,
        through buffer: UnsafeMutableRawBufferPointer,
        to output: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        // zlib does not write to its input.
        let start = UnsafeMutableRawPointer(mutating: input.baseAddress)
        stream.pointee.next_in = start?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        repeat {
            stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(clamping: buffer.count)
            // zlib fails only if its state was not initialized or there is nothing to do; neither happens here.
            _ = CWaystation.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
            let produced = buffer.count - Int(stream.pointee.avail_out)
            if produced > 0 { try output(UnsafeRawBufferPointer(rebasing: buffer[..<produced])) }
            // When the buffer is not full, no more output is waiting.
        } while stream.pointee.avail_out == 0
        if isLast { deflateReset(stream) }
    }
}
