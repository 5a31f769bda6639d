#if NIO
import NIOCore
import NIOHTTP1
import WaystationFields

/// Carries the bytes of fields past the codec of HTTP/1.1, which reads and writes text in UTF-8 only.
///
/// It stands between the socket and the codec. In the head of a response, each byte from 0x80 on becomes the character
/// that ISO 8859-1 has for it, from which ``EngineResponseHead/init(readByFieldBytes:)`` finds the byte again. In the
/// head of a request, the scalars that hold bytes (``FieldText``) become these bytes.
final class FieldBytes: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Whether the next bytes that arrive are those of a head. Bodies are left alone.
    var isReadingHead = false
    /// Whether the head of a request that holds bytes is being written.
    var isWritingHeldBytes = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var rest = unwrapInboundIn(data)
        // A head ends at the end of a line, and the codec reports it within the call, which ends this loop.
        while isReadingHead, let index = rest.indexOfHighByte {
            if index > 0, let plain = rest.readSlice(length: index) {
                context.fireChannelRead(wrapInboundOut(plain))
                continue
            }
            let lineEnd = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.writerIndex
            guard let line = rest.readSlice(length: lineEnd - rest.readerIndex) else { break }
            context.fireChannelRead(wrapInboundOut(line.asLatin1))
        }
        if rest.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(rest)) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
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
            fields[index].value = FieldSyntax.trimmed(fields[index].value)
            guard fields[index].value.utf8.contains(where: { $0 >= 0x80 }) else { continue }
            let bytes = fields[index].value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            fields[index].value = FieldText.text(of: bytes)
        }
    }
}

extension ByteBuffer {
    /// The position, from the first readable byte on, of the first byte that is not ASCII.
    fileprivate var indexOfHighByte: Int? {
        withUnsafeReadableBytes { bytes in
            var index = 0
            while index + 8 <= bytes.count,
                bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
            }
            return bytes[index...].firstIndex { $0 >= 0x80 }
        }
    }

    /// The bytes as ISO 8859-1, in UTF-8.
    fileprivate var asLatin1: ByteBuffer {
        var text = ByteBuffer()
        text.reserveCapacity(readableBytes * 2)
        for byte in readableBytesView {
            if byte < 0x80 {
                text.writeInteger(byte)
            } else {
                text.writeBytes([0xC0 | byte >> 6, 0x80 | byte & 0x3F])
            }
        }
        return text
    }
}
#endif
