#if NIO
import NIOCore
import NIOHPACK
import WaystationHTTP

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

/// The fields of a request as HTTP/2 carries them (RFC 9113 §8.2 and §8.3.1).
enum RequestFields {
    /// Fields that only HTTP/1.1 knows (RFC 9113 §8.2.2); `Host` becomes `:authority`.
    private static let dropped = ConnectionFields.ofHTTP1.union(["host", "content-length", "http2-settings"])
    /// Secrets are kept out of the compression's table (RFC 7541 §7.1.3).
    private static let secret: Set<String> = ["authorization", "proxy-authorization"]

    /// Makes the header block of a request.
    ///
    /// - Parameter head: The head of the request.
    /// - Returns: The block, or the part of the request that cannot be sent.
    static func make(_ head: EngineRequestHead) -> Result<HPACKHeaders, Invalid> {
        // A CONNECT opens a tunnel, and has neither a scheme nor a path (RFC 9113 §8.5).
        guard head.method != "CONNECT" else { return .failure(Invalid(name: ":method", value: head.method)) }
        for (name, value) in [(":method", head.method), (":scheme", head.scheme), (":path", head.target)] {
            guard FieldSyntax.isSendable(value), !value.isEmpty else {
                return .failure(Invalid(name: name, value: value))
            }
        }
        guard FieldSyntax.isSendable(head.authority) else {
            return .failure(Invalid(name: ":authority", value: head.authority))
        }
        var headers = HPACKHeaders()
        headers.reserveCapacity(head.fields.count + 5)
        headers.add(name: ":method", value: head.method)
        headers.add(name: ":scheme", value: head.scheme)
        headers.add(name: ":authority", value: head.authority)
        headers.add(name: ":path", value: head.target)
        let connection = head.fields.compactMap { $0.name.equalsIgnoringCase("Connection") ? $0.value : nil }
        let named = ConnectionFields.named(by: connection)
        for (original, value) in head.fields {
            let name = original.lowercased()
            guard !dropped.contains(name), !named.contains(name) else { continue }
            // RFC 9113 §8.2.2: TE has no other value here.
            guard name != "te" || value.equalsIgnoringCase("trailers") else { continue }
            guard !FieldText.holdsBytes(value) else { return .failure(Invalid(name: original, value: nil)) }
            guard name.utf8.isToken, isValue(value) else { return .failure(Invalid(name: original, value: value)) }
            headers.add(name: name, value: value, indexing: secret.contains(name) ? .neverIndexed : .indexable)
        }
        if case .length(let length) = head.framing {
            headers.add(name: "content-length", value: "\(length)")
        }
        return .success(headers)
    }

    /// A part of a request that HTTP/2 cannot carry.
    struct Invalid: Error, Equatable {
        var name: String
        /// Nil for a value that is not UTF-8, which the codec cannot send; HTTP/1.1 can.
        var value: String?

        var failure: ExchangeFailure {
            guard value != nil else {
                var failure = ExchangeFailure.unprocessed(
                    .connectionEnded,
                    "The request has the field \(name) with a value that is not UTF-8, which cannot be sent over HTTP/2. "
                        + "Allow HTTP/1.1."
                )
                failure.requiresHTTP1 = true
                return failure
            }
            return ExchangeFailure(
                kind: .invalidRequest,
                // The value may be a secret.
                explanation: "The value of \(name.quoted()) in the request cannot be sent by HTTP/2. Change it."
            )
        }
    }

    /// Checks that a block is not larger than the server has announced to accept (RFC 9113 §6.5.2).
    ///
    /// A server may end the connection, and so the loads on it, for the sake of a larger one.
    ///
    /// - Parameters:
    ///   - block: The block.
    ///   - limit: The server's SETTINGS_MAX_HEADER_LIST_SIZE, if it has announced one.
    /// - Returns: Nil if the block can be sent.
    static func excess(of block: HPACKHeaders, over limit: Int?) -> ExchangeFailure? {
        guard let limit else { return nil }
        let size = block.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
        guard size > limit else { return nil }
        return ExchangeFailure(
            kind: .invalidRequest,
            explanation: """
                The fields of the request have \(size) bytes, counted as HTTP/2 does, and the server takes \(limit) at most \
                (SETTINGS_MAX_HEADER_LIST_SIZE). Send fewer or shorter fields.
                """
        )
    }

    /// RFC 9113 §8.2.1.
    private static func isValue(_ value: String) -> Bool {
        FieldSyntax.isValue(value) && value.utf8.first?.isSpace != true && value.utf8.last?.isSpace != true
    }
}

/// The rules for the head of a response (RFC 9113 §8.3.2) that the codec leaves open.
enum ResponseHeadCheck {
    /// Reads a head.
    ///
    /// - Parameters:
    ///   - headers: The decoded header block.
    ///   - maximumFields: The number of fields that are accepted.
    /// - Returns: The head, or the failure of the exchange.
    static func read(_ headers: HPACKHeaders, maximumFields: Int) -> Result<EngineResponseHead, ExchangeFailure> {
        guard headers.count <= maximumFields else {
            return .failure(
                ExchangeFailure(
                    kind: .limitExceeded,
                    explanation: """
                        The head of the response has \(headers.count) fields; \(maximumFields) are accepted. Raise the limit \
                        if the server can be trusted.
                        """
                )
            )
        }
        var status: Int?
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(headers.count)
        for (name, value, _) in headers {
            guard name.utf8.first == UInt8(ascii: ":") else {
                fields.append((name, value))
                continue
            }
            guard name == ":status", status == nil, let number = statusCode(value) else {
                let field = "\(name.shown()) with the value \(value.quoted())"
                return .failure(.malformed("The response has the pseudo-field \(field)."))
            }
            status = number
        }
        guard let status else { return .failure(.malformed("The response has no :status.")) }
        let hasLostBytes = fields.contains { _, value in
            value.utf8.contains(0xEF) && value.unicodeScalars.contains("\u{FFFD}")
        }
        return .success(EngineResponseHead(status: status, fields: fields, hasLostBytes: hasLostBytes))
    }

    /// Three digits (RFC 9110 §15); 100 is the smallest status there is.
    private static func statusCode(_ value: String) -> Int? {
        guard value.utf8.count == 3, value.utf8.isDecimal, let number = Int(value), number >= 100 else {
            return nil
        }
        return number
    }

    /// The length that a head announces; nil if it announces none.
    ///
    /// The field may occur more than once, with the same value (RFC 9110 §8.6).
    static func contentLength(_ fields: [(name: String, value: String)]) -> Result<Int64?, ExchangeFailure> {
        let lines = fields.lazy.filter { $0.name == "content-length" }.map(\.value)
        switch ContentLength(lines: lines) {
        case .absent: return .success(nil)
        case .bytes(let count): return .success(Int64(count))
        case .invalid:
            let value = lines.joined(separator: ", ").quoted()
            return .failure(.malformed("The response has the Content-Length \(value)."))
        }
    }
}
#endif
