#if Gateway
import HTTPTypes
import NIOCore
import NIOHTTP1
import WaystationHTTP

/// Writes one response to the client of a connection (RFC 9112).
///
/// The parts of a response that are written in one turn of the event loop are sent with one call. It is confined to the
/// event loop of the connection.
final class ResponseWriter {
    /// More bytes are passed to the connection at once, so that the connection notices when the client takes too few.
    private static let limit = 64 << 10

    private let channel: any Channel
    /// The bytes that the connection has not got yet.
    private var pending = ByteBuffer()
    private var isChunked = false
    private var isFlushDue = false

    init(_ channel: any Channel) { self.channel = channel }

    /// Writes the head.
    ///
    /// - Parameters:
    ///   - head: The head, with the fields that state the framing.
    ///   - framing: The framing of the body; only ``ResponseFraming/chunked`` changes its bytes.
    func begin(_ head: HTTPResponseHead, _ framing: ResponseFraming = .none) {
        isChunked = framing == .chunked
        let length = if case .length(let length) = framing { length } else { 0 }
        // Most heads have less than 1 KiB, and most short bodies follow at once.
        pending.reserveCapacity(1_024 + min(length, Self.limit - 1_024))
        pending.write(head)
        flushSoon()
    }

    /// Writes a part of the body.
    func append(_ part: some Collection<UInt8>) {
        // An empty chunk would end the body (RFC 9112 §7.1).
        guard !part.isEmpty else { return }
        if isChunked { pending.writeString(String(part.count, radix: 16) + "\r\n") }
        pending.writeBytes(part)
        if isChunked { pending.writeString("\r\n") }
        if pending.readableBytes >= Self.limit { pass() }
        flushSoon()
    }

    /// Writes the end of the body, and sends all of the response.
    ///
    /// - Parameter closes: Whether the connection is closed when the response was sent.
    func end(closes: Bool) {
        if isChunked { pending.writeString("0\r\n\r\n") }
        isChunked = false
        guard closes else { return flush() }
        channel.writeAndFlush(IOData.byteBuffer(pending)).whenComplete { [channel] _ in channel.close(promise: nil) }
        pending = ByteBuffer()
    }

    /// Sends what was written so far.
    func flush() {
        if pending.readableBytes > 0 { pass() }
        channel.flush()
    }

    private func pass() {
        channel.write(IOData.byteBuffer(pending), promise: nil)
        pending = ByteBuffer()
    }

    private func flushSoon() {
        guard !isFlushDue else { return }
        isFlushDue = true
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.eventLoop.execute {
            bound.value.isFlushDue = false
            bound.value.flush()
        }
    }
}

extension ByteBuffer {
    /// Writes the head of a response (RFC 9112 §4, §5).
    ///
    /// A field that may not be sent is left out (RFC 9110 §5.1, §5.5): its value could end the head.
    mutating func write(_ head: HTTPResponseHead) {
        writeString(head.version == .http1_0 ? "HTTP/1.0 " : "HTTP/1.1 ")
        writeString(String(head.status.code))
        writeString(" ")
        writeString(head.status.reasonPhrase)
        writeString("\r\n")
        for (name, value) in head.headers where name.utf8.isToken && HTTPField.isValidValue(value) {
            writeString(name)
            writeString(": ")
            if FieldText.holdsBytes(value) { writeBytes(FieldText.bytes(of: value)) } else { writeString(value) }
            writeString("\r\n")
        }
        writeString("\r\n")
    }
}

/// The end of a response's body, as the client learns of it (RFC 9112 §6).
enum ResponseFraming: Equatable, Sendable {
    /// The response has no body.
    case none
    /// The body has this many bytes.
    case length(Int)
    /// Each part states its length; the last one is empty.
    case chunked
    /// The end of the connection ends the body, for clients of HTTP/1.0.
    case close

    /// Finds the framing of a response.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - version: The version of the client.
    ///   - status: The status of the response.
    ///   - length: The length that the response states, if it is that of the bytes that are delivered.
    /// - Returns: The framing.
    static func of(
        _ method: HTTPMethod,
        _ version: HTTPVersion,
        status: Int,
        length: Int?
    ) -> ResponseFraming {
        if method == .HEAD || status == 204 || status == 304 { return .none }
        if let length { return .length(length) }
        return version == .http1_0 ? .close : .chunked
    }
}
#endif
