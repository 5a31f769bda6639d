#if NIO
import CZlib

/// gzip (RFC 1952) and deflate (RFC 1950), by the system's zlib.
///
/// Many servers send deflate without zlib's header (RFC 1951); both forms are accepted, as libcurl does.
final class ZlibCodec: Codec {
    enum Format {
        case gzip
        case deflate
    }

    let name: String
    private(set) var isComplete = false

    private let format: Format
    /// Zlib keeps the address of its stream, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false

    init(_ format: Format) {
        self.format = format
        name = format == .gzip ? "gzip" : "deflate"
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws -> CodecProgress {
        guard !isComplete else {
            guard input.isEmpty else { throw CodecError.trailingBytes }
            return CodecProgress(taken: 0, written: 0)
        }
        guard try open(input) else { return CodecProgress(taken: 0, written: 0) }
        let available = UInt32(clamping: input.count)
        let room = UInt32(clamping: output.count)
        // Zlib does not write to its input; the cast is for the sake of its declaration.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = available
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = room
        let result = inflate(stream, Z_NO_FLUSH)
        switch result {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: isComplete = true
        case Z_MEM_ERROR: throw CodecError.outOfMemory
        case Z_NEED_DICT: throw CodecError.damaged("it needs a dictionary")
        default: throw CodecError.damaged(stream.pointee.msg.map { String(cString: $0) })
        }
        return CodecProgress(
            taken: Int(available - stream.pointee.avail_in),
            written: Int(room - stream.pointee.avail_out)
        )
    }

    /// Opens the stream; returns false while too few bytes have arrived to recognise its form.
    private func open(_ input: UnsafeRawBufferPointer) throws -> Bool {
        guard !isOpen else { return true }
        let windowBits: Int32
        switch format {
        case .gzip: windowBits = MAX_WBITS + 16
        case .deflate:
            guard input.count >= 2 else { return false }
            windowBits = Self.isZlibHeader(input[0], input[1]) ? MAX_WBITS : -MAX_WBITS
        }
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { throw CodecError.outOfMemory }
        isOpen = true
        return true
    }

    /// RFC 1950 §2.2: method 8, a window of 32 KiB at most, and a checksum over both bytes.
    private static func isZlibHeader(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (UInt16(first) << 8 | UInt16(second)) % 31 == 0
    }
}
#endif
