#if NIO
import Foundation
import NIOCore

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
