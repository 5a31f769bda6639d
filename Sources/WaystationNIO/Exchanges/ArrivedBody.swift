#if NIO
import Foundation
import NIOCore

/// The parts of a response's body that arrived and were not delivered yet.
struct ArrivedBody {
    /// The number of bytes, as they arrived, from which on a connection must stop reading.
    private static let highWater = 64 << 10
    /// The number of decoded bytes that one turn of the loop delivers, so that no response keeps it for long.
    static let turn = 256 << 10

    /// Removes the content coding, if there is one.
    var decoder: (any ContentDecoder)?
    let limits: NIOOptions.Limits
    private(set) var parts = CircularBuffer<ByteBuffer>()
    /// Whether the last part is a copy of small parts.
    private var lastIsCopy = false
    private var waiting = 0
    private var encodedTotal = 0
    /// Whether the decoder may have bytes without getting more encoded ones.
    private var mayHoldDecoded = false
    private(set) var isComplete = false

    init(limits: NIOOptions.Limits) { self.limits = limits }

    /// Whether the connection may continue to read.
    var hasRoom: Bool { waiting < Self.highWater }

    mutating func append(_ part: ByteBuffer) {
        guard part.readableBytes > 0 else { return }
        waiting += part.readableBytes
        // A part keeps the whole buffer of its read from the socket in memory, so small ones that wait are copied.
        guard !parts.isEmpty, part.readableBytes < part.storageCapacity / 8 else {
            parts.append(part)
            lastIsCopy = false
            return
        }
        if !lastIsCopy { parts.append(ByteBuffer()) }
        lastIsCopy = true
        parts.modify(parts.index(before: parts.endIndex)) { _ = $0.writeImmutableBuffer(part) }
    }

    /// No more parts will follow.
    mutating func complete() { isComplete = true }

    /// Drops everything.
    mutating func removeAll() {
        parts.removeAll()
        waiting = 0
        decoder = nil
        mayHoldDecoded = false
    }

    /// The next bytes to deliver, or nil when nothing is left.
    ///
    /// Empty data says that much was decoded to nothing, and that more may follow.
    ///
    /// - Throws: A `TransportFailure` if the coding is damaged or expands beyond the limits.
    mutating func next() throws -> Data? {
        guard decoder != nil else { return nextPlain() }
        do {
            while true {
                if mayHoldDecoded, let data = try decoder?.next() { return data }
                mayHoldDecoded = false
                guard let part = parts.popFirst() else { break }
                waiting -= part.readableBytes
                encodedTotal &+= part.readableBytes
                decoder?.append(part)
                mayHoldDecoded = true
            }
            // A body without any bytes is accepted, whatever its coding says; so does libcurl.
            if isComplete, encodedTotal > 0 { try decoder?.finish() }
            if isComplete { decoder = nil }
            return nil
        } catch let failure as TransportFailure {
            throw failure
        } catch {
            throw TransportFailure(
                .unknown,
                "The content coding of the body cannot be removed: \(error)."
            )
        }
    }

    private mutating func nextPlain() -> Data? {
        guard var data = parts.popFirst().map({ Data(bytesOf: $0) }) else { return nil }
        if !parts.isEmpty {
            data.reserveCapacity(waiting)
            while let part = parts.popFirst() {
                part.withUnsafeReadableBytes { data.append(contentsOf: $0) }
            }
        }
        waiting = 0
        return data
    }
}

extension Data {
    /// A copy of a buffer's readable bytes.
    init(bytesOf buffer: ByteBuffer) {
        self = buffer.withUnsafeReadableBytes { bytes in
            guard let start = bytes.baseAddress else { return Data() }
            return Data(bytes: start, count: bytes.count)
        }
    }
}

/// Gives out the body of a request, piece by piece.
struct BodySource {
    /// The next piece of the body, or the stream from which it must be read.
    enum Next {
        case piece(ByteBuffer, isLast: Bool)
        /// The piece must be read from the stream, which may take time.
        case read(BodyStream)
    }

    private var body: RequestBody
    private var offset = 0
    private var hasBegunStream = false

    init(_ body: RequestBody) { self.body = body }

    /// Whether the whole body can be sent (again).
    var isRepeatable: Bool { !hasBegunStream || rewoundStream != nil }

    /// The body is sent from its start.
    mutating func rewind() {
        offset = 0
        guard hasBegunStream, let stream = rewoundStream else { return }
        body = .stream(stream)
        hasBegunStream = false
    }

    private var rewoundStream: BodyStream? {
        guard case .stream(let stream) = body else { return nil }
        return stream.rewound
    }

    mutating func next() -> Next {
        switch body {
        case .none: return .piece(ByteBuffer(), isLast: true)
        case .stream(let stream):
            hasBegunStream = true
            return .read(stream)
        case .data(let data):
            let count = min(data.count - offset, BodyStream.pieceSize)
            guard count > 0 else { return .piece(ByteBuffer(), isLast: true) }
            let start = data.startIndex + offset
            var piece = ByteBufferAllocator().buffer(capacity: count)
            piece.writeBytes(data[start..<(start + count)])
            offset += count
            return .piece(piece, isLast: offset == data.count)
        }
    }
}
#endif
