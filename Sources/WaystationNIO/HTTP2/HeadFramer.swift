#if NIO
import NIOCore
import NIOHPACK

/// Encodes the heads of requests, and splits those that are longer than a frame of the server may be (RFC 9113 §4.3).
///
/// The codec cannot split a head: its encoder notices that a block is too long for one frame when the compression's table
/// has already changed, and from then on the server reads the fields of other requests. So the codec gets a short
/// stand-in for each head. When it writes the stand-in, the head is encoded and takes its place, with the same stream and
/// flags: the table changes in the order in which the server reads.
struct HeadFramer {
    /// The head that the codec gets; its fields are all in the static table.
    static let standIn: HPACKHeaders = [":method": "GET", ":scheme": "https", ":path": "/"]
    /// The size of a frame that every server takes (RFC 9113 §6.5.2).
    static let smallestFrame = 16 << 10

    /// The codec wrote a head that was not added before.
    struct UnknownHead: Error {}

    private static let prefaceSize = 24
    private static let headerSize = 9
    private static let headers: UInt8 = 1
    private static let continuation: UInt8 = 9
    private static let endHeaders: UInt8 = 0x4

    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var frameSize = Self.smallestFrame
    private var heads: [StreamID: HPACKHeaders] = [:]
    /// The bytes of the preface, or of a payload, that the codec hands over apart from the header of their frame.
    private var passing = Self.prefaceSize

    /// Keeps the head of a stream until the codec writes its stand-in.
    mutating func add(_ head: HPACKHeaders, on id: StreamID) { heads[id] = head }

    /// Forgets a head whose stand-in the codec will not write.
    mutating func drop(_ id: StreamID) { heads[id] = nil }

    /// The server's SETTINGS_HEADER_TABLE_SIZE.
    ///
    /// A larger table than `HTTP2Limits.fieldTable` is not used, because the encoder searches it in order.
    mutating func tableSize(is size: Int) throws {
        try encoder.setDynamicTableSize(min(max(0, size), HTTP2Limits.fieldTable))
    }

    /// The server's SETTINGS_MAX_FRAME_SIZE, which the codec has checked.
    mutating func frameSize(is size: Int) { frameSize = max(size, Self.smallestFrame) }

    /// Takes bytes that the codec writes: the preface, a frame, or the payload of the frame before.
    ///
    /// - Returns: The bytes to send.
    mutating func replace(_ bytes: ByteBuffer) throws -> ByteBuffer {
        guard passing == 0, bytes.readableBytes >= Self.headerSize,
            let frame = bytes.getMultipleIntegers(
                at: bytes.readerIndex,
                as: (UInt16, UInt8, UInt8, UInt8, UInt32).self
            )
        else {
            passing = max(0, passing - bytes.readableBytes)
            return bytes
        }
        guard frame.2 == Self.headers else {
            let payload = Int(frame.0) << 8 | Int(frame.1)
            passing = max(0, payload + Self.headerSize - bytes.readableBytes)
            return bytes
        }
        guard let head = heads.removeValue(forKey: StreamID(frame.4 & 0x7FFF_FFFF)) else { throw UnknownHead() }
        return try encode(head, flags: frame.3, rawStream: frame.4)
    }

    private mutating func encode(_ head: HPACKHeaders, flags: UInt8, rawStream: UInt32) throws -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.reserveCapacity(512)
        Self.write(Self.headers, flags, rawStream, size: 0, to: &bytes)
        try encoder.encode(headers: head, to: &bytes)
        let size = bytes.readableBytes - Self.headerSize
        guard size > frameSize else {
            Self.setSize(size, of: &bytes)
            return bytes
        }
        bytes.moveReaderIndex(forwardBy: Self.headerSize)
        return split(bytes, flags: flags, rawStream: rawStream)
    }

    /// Splits a block into HEADERS and CONTINUATION frames, between which nothing may stand (RFC 9113 §6.10).
    private func split(_ block: ByteBuffer, flags: UInt8, rawStream: UInt32) -> ByteBuffer {
        var block = block
        var frames = ByteBuffer()
        frames.reserveCapacity(block.readableBytes + (block.readableBytes / frameSize + 1) * Self.headerSize)
        var type = Self.headers
        var flags = flags & ~Self.endHeaders
        while let part = block.readSlice(length: min(frameSize, block.readableBytes)), part.readableBytes > 0 {
            if block.readableBytes == 0 { flags |= Self.endHeaders }
            Self.write(type, flags, rawStream, size: part.readableBytes, to: &frames)
            frames.writeImmutableBuffer(part)
            type = Self.continuation
            flags = 0
        }
        return frames
    }

    private static func write(_ type: UInt8, _ flags: UInt8, _ rawStream: UInt32, size: Int, to bytes: inout ByteBuffer)
    {
        bytes.writeMultipleIntegers(UInt16(size >> 8), UInt8(size & 0xFF), type, flags, rawStream)
    }

    private static func setSize(_ size: Int, of frame: inout ByteBuffer) {
        frame.setInteger(UInt16(size >> 8), at: frame.readerIndex)
        frame.setInteger(UInt8(size & 0xFF), at: frame.readerIndex + 2)
    }
}

/// Stands between the codec and the socket, and puts the heads of requests in the place of their stand-ins.
final class HeadWriter: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    var framer = HeadFramer()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .byteBuffer(let bytes) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        do {
            context.write(wrapOutboundOut(.byteBuffer(try framer.replace(bytes))), promise: promise)
        } catch {
            // The connection ends, because the server and this side may disagree about the table from here on.
            promise?.fail(error)
            context.fireErrorCaught(error)
        }
    }
}
#endif
