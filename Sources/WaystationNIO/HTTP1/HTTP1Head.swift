#if NIO
package import NIOCore
package import NIOHTTP1
import WaystationHTTP

extension HTTPRequestHead {
    /// The request as HTTP/1.1 sends it, with the fields of its framing (RFC 9112 §6).
    init(_ head: EngineRequestHead) {
        var fields: [(String, String)] = []
        fields.reserveCapacity(head.fields.count + 2)
        fields.append(("Host", head.authority))
        for (name, value) in head.fields { fields.append((name, value)) }
        switch head.framing {
        case .none: break
        case .length(let length): fields.append(("Content-Length", String(length)))
        case .unknownLength: fields.append(("Transfer-Encoding", "chunked"))
        }
        self.init(
            version: .http1_1,
            method: HTTPMethod(rawValue: head.method),
            uri: head.target,
            headers: HTTPHeaders(fields)
        )
    }
}

extension HTTPResponseHead {
    /// Whether the body arrives without the transfer codings that are registered.
    ///
    /// The parser removes chunked, once and as the last one (RFC 9112 §6.1). No client removes a coding that is not
    /// registered: such a body ends with its connection (§6.3), and is delivered as it came.
    var hasKnownTransferCoding: Bool {
        // White space after a value is not a part of it (RFC 9112 §5).
        let codings = headers[canonicalForm: "Transfer-Encoding"].map { $0.trimmingSpace().lowercased() }
        let removed = codings.filter { $0 != "identity" }
        return removed.allSatisfy { $0.utf8.isToken && !Self.registeredCodings.contains($0) }
            || (removed == ["chunked"] && codings.last == "chunked")
    }

    private static let registeredCodings: Set<String> = [
        "chunked", "compress", "deflate", "gzip", "trailers", "x-compress", "x-gzip",
    ]
}

extension EngineResponseHead {
    init(_ head: HTTPResponseHead) {
        self.init(status: Int(head.status.code), fields: head.headers.map { ($0.name, $0.value) })
    }
}

/// Carries the bytes of fields past the codec of HTTP/1.1, which reads and writes text in UTF-8 only.
///
/// It stands between the socket and the codec. In a head that arrives, each byte from 0x80 on becomes the scalar that
/// holds it (``FieldText``), of which the text of each value is made. Tabs at the end of a line are left out: they are no
/// part of the value (RFC 9112 §5), but the codec's parser would not recognise the chunked coding before them. In the head
/// of a request that is sent, such scalars become their bytes.
package final class FieldBytes: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = IOData
    package typealias OutboundOut = IOData

    /// Whether the next bytes that arrive are those of a head.
    ///
    /// Bodies are left alone.
    package var isReadingHead = false {
        didSet { isAtLineStart = true }
    }
    /// Whether the codec has got whole lines only.
    ///
    /// A line of white space is left to the codec: without the white space, it would be the end of the head.
    private var isAtLineStart = true
    /// White space that ends the line, unless a part of the value follows in the next read.
    private var blanks = ByteBuffer()
    /// Whether the head of a request that holds bytes is being written.
    package var isWritingHeldBytes = false

    /// Whether the bytes of a read are being passed on, and the removal that waits until they are.
    private var isPassing = false
    private var removal: ChannelHandlerContext.RemovalToken?

    package init() {}

    package func removeHandler(context: ChannelHandlerContext, removalToken: ChannelHandlerContext.RemovalToken) {
        // A head may lead to the removal while bytes behind it, such as frames of a web socket, still wait here.
        if isPassing { removal = removalToken } else { context.leavePipeline(removalToken: removalToken) }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let wasPassing = isPassing
        isPassing = true
        read(unwrapInboundIn(data), context)
        isPassing = wasPassing
        if !isPassing, let removal = removal.take() { context.leavePipeline(removalToken: removal) }
    }

    private func read(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        var rest = bytes
        if blanks.readableBytes > 0 {
            blanks.writeBuffer(&rest)
            rest = blanks
            blanks = ByteBuffer()
        }
        // A head ends at the end of a line, and the codec reports it within the call, which ends this loop.
        while isReadingHead, let index = rest.indexOfOddByte {
            if index > 0, let plain = rest.readSlice(length: index) {
                pass(plain, context)
                continue
            }
            let next = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.writerIndex
            guard let line = rest.readSlice(length: next - rest.readerIndex) else { break }
            let end = line.endOfValue
            guard let lineEnd = end.lineEnd else {
                blanks =
                    line.getSlice(at: line.readerIndex + end.value, length: line.readableBytes - end.value) ?? blanks
                pass(line.holdingBytes(upTo: end.value, then: nil), context)
                continue
            }
            pass(end.value == 0 && isAtLineStart ? line : line.holdingBytes(upTo: end.value, then: lineEnd), context)
        }
        pass(rest, context)
    }

    private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        guard let last = bytes.readableBytesView.last else { return }
        isAtLineStart = last == UInt8(ascii: "\n")
        context.fireChannelRead(wrapInboundOut(bytes))
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isWritingHeldBytes, case .byteBuffer(let head) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        let bytes = FieldText.bytes(of: String(buffer: head))
        context.write(wrapOutboundOut(.byteBuffer(ByteBuffer(bytes: bytes))), promise: promise)
    }
}

extension EngineRequestHead {
    /// Whether a value has bytes that are not UTF-8.
    var holdsBytes: Bool { fields.contains { FieldText.holdsBytes($0.value) } }
}

extension EngineResponseHead {
    /// The head as the codec has read it behind ``FieldBytes``.
    init(readByFieldBytes head: HTTPResponseHead) {
        self.init(head)
        for index in fields.indices {
            fields[index].value = fields[index].value.readByFieldBytes
        }
    }
}

extension HTTPHeaders {
    /// The fields that a codec has read behind ``FieldBytes``.
    package var readByFieldBytes: HTTPHeaders {
        let isPlain = allSatisfy { $0.value.utf8.allSatisfy { $0 < 0x80 } && $0.value.trimmingSpace() == $0.value }
        return isPlain ? self : HTTPHeaders(map { ($0.name, $0.value.readByFieldBytes) })
    }

    /// Whether a value has bytes that are not UTF-8.
    package var holdBytes: Bool { contains { FieldText.holdsBytes($0.value) } }
}

extension String {
    /// The text of a value, without the white space around it (RFC 9112 §5), which codecs leave after a value.
    fileprivate var readByFieldBytes: String {
        let value = trimmingSpace()
        guard value.utf8.contains(where: { $0 >= 0x80 }) else { return value }
        return FieldText.text(of: FieldText.bytes(of: value))
    }
}

extension ByteBuffer {
    /// The position, from the first readable byte on, of the first byte that is not ASCII, or a tab.
    fileprivate var indexOfOddByte: Int? {
        withUnsafeReadableBytes { bytes in
            let (ones, highBits): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
            var index = 0
            while index + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                // A byte of this is zero where the word has a tab; subtracting one then sets its high bit.
                let tabs = word ^ (ones &* 0x09)
                guard (word | ((tabs &- ones) & ~tabs)) & highBits == 0 else { break }
                index += 8
            }
            return bytes[index...].firstIndex { $0 >= 0x80 || $0 == 0x09 }
        }
    }

    /// The number of bytes before the white space that ends a line, and the line's end; nil if the line does not end here.
    fileprivate var endOfValue: (value: Int, lineEnd: ByteBuffer?) {
        let bytes = readableBytesView
        let ending = bytes.suffix(bytes.last == 0x0A ? (bytes.dropLast().last == 0x0D ? 2 : 1) : 0)
        var value = bytes.dropLast(ending.count)
        if ending.isEmpty, value.last == 0x0D { value = value.dropLast() }
        while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
        return (value.count, ending.isEmpty ? nil : ByteBuffer(bytes: ending))
    }

    /// The first bytes in UTF-8, with each byte from 0x80 on held by a scalar, whatever they spell, and the end of the line.
    fileprivate func holdingBytes(upTo count: Int, then lineEnd: ByteBuffer?) -> ByteBuffer {
        var text = ByteBuffer()
        text.reserveCapacity(count * 3 + 2)
        for byte in readableBytesView.prefix(count) {
            if byte < 0x80 {
                text.writeInteger(byte)
            } else {
                text.writeString(FieldText.text(of: CollectionOfOne(byte)))
            }
        }
        if let lineEnd { text.writeImmutableBuffer(lineEnd) }
        return text
    }
}
#endif
