import CWaystation.Zlib
package import Foundation

/// zlib's decompressor; one instance serves one entry after another.
package final class Inflater {
    /// The result of one step.
    package struct Step {
        package let consumed: Int
        package let produced: Int
        package let isAtEnd: Bool
    }

    /// The format that wraps the compressed data.
    package enum Framing {
        /// No header and no checksum (RFC 1951).
        case none
        /// The header and checksum of zlib (RFC 1950).
        case zlib
        /// The header and checksum of gzip (RFC 1952), one member.
        case gzip

        fileprivate var windowBits: Int32 {
            switch self {
            case .none: -MAX_WBITS
            case .zlib: MAX_WBITS
            case .gzip: MAX_WBITS + 16
            }
        }
    }

    /// zlib keeps a pointer to this memory, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// The result of zlib's last call.
    private var status = Z_OK

    package init(_ framing: Framing = .none) throws(ZipError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard inflateInit2_(stream, framing.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            stream.deallocate()
            throw ZipError.outOfMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Prepares for other data.
    package func reset() { inflateReset(stream) }

    /// Decompresses as far as input and output allow.
    ///
    /// - Returns: `nil` when the data are not valid; ``complaint`` may have the reason.
    package func step(
        from input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ZipError) -> Step? {
        // zlib does not write to its input; its declaration only says so.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let (offered, room) = (stream.pointee.avail_in, stream.pointee.avail_out)
        status = inflate(stream, Z_NO_FLUSH)
        let step = Step(
            consumed: Int(offered - stream.pointee.avail_in),
            produced: Int(room - stream.pointee.avail_out),
            isAtEnd: status == Z_STREAM_END
        )
        switch status {
        // `Z_BUF_ERROR` means that there was no input or no room: the caller decides whether that is an error.
        case Z_OK, Z_STREAM_END, Z_BUF_ERROR: return step
        case Z_MEM_ERROR: throw ZipError.outOfMemory
        default: return nil
        }
    }

    /// The reason why the last step failed; nil if zlib gives none.
    package var complaint: String? {
        status == Z_NEED_DICT ? "it needs a dictionary" : stream.pointee.msg.map { String(cString: $0) }
    }
}

extension ZipError {
    static var outOfMemory: ZipError {
        ZipError(.outOfMemory, "zlib could not allocate memory; free some, then try again")
    }
}

extension Inflater {
    /// The reason why data are not decompressed as a whole.
    package enum Refusal: Error {
        /// The data are damaged or cut off.
        case damaged
        /// The decompressed data have more bytes than the limit.
        case tooLarge
    }

    /// Decompresses data in memory.
    ///
    /// Members of gzip that follow one another are decompressed as one text (RFC 1952 §2.2).
    ///
    /// - Parameters:
    ///   - data: The compressed data.
    ///   - framing: The format that wraps them.
    ///   - limit: The largest number of decompressed bytes.
    /// - Returns: The decompressed data.
    /// - Throws: ``Refusal``, or a ``ZipError`` if zlib cannot allocate memory.
    package static func decompress(_ data: Data, _ framing: Framing, limit: Int) throws -> Data {
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { output.deallocate() }
        let inflater = try Inflater(framing)
        return try data.withUnsafeBytes { bytes in
            var result = Data()
            var place = 0
            while true {
                guard
                    let step = try inflater.step(from: UnsafeRawBufferPointer(rebasing: bytes[place...]), into: output),
                    step.isAtEnd || step.consumed > 0 || step.produced > 0
                else { throw Refusal.damaged }
                place += step.consumed
                guard result.count + step.produced <= limit else { throw Refusal.tooLarge }
                result.append(contentsOf: output[..<step.produced])
                if step.isAtEnd {
                    guard framing == .gzip, place < bytes.count else { return result }
                    // Another member follows.
                    inflater.reset()
                }
            }
        }
    }
}
