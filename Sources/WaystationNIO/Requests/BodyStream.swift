#if NIO
import Dispatch
import Foundation
import NIOCore
import Waystation

/// The stream of a request's body, read one piece at a time on a queue of its own, because reading may block.
///
/// `@unchecked Sendable`: the stream is only used on the queue.
final class BodyStream: @unchecked Sendable {
    /// The result of reading a piece.
    enum Piece: Sendable {
        /// Bytes of the body; never empty.
        case bytes(ByteBuffer)
        case end
        /// The stream failed; the text says how.
        case failure(String)
    }

    /// The size of a piece: large enough for few hops, small enough to be written at once.
    static let pieceSize = 64 << 10

    private let stream: InputStream
    private let queue = DispatchQueue(label: "waystation.nio.body")
    private var isOpen = false

    init(_ stream: InputStream) { self.stream = stream }

    deinit { stream.close() }

    /// A stream of the same body from its beginning; nil if the body can be read only once.
    ///
    /// A stream that can be rewound does not change while it is read, so this may be called at any time.
    var rewound: BodyStream? { (stream as? any RewindableStream).map { BodyStream($0.rewound) } }

    /// Reads the next piece and passes it on, on the stream's queue.
    func read(_ completion: @escaping @Sendable (Piece) -> Void) {
        queue.async {
            guard let stream = self.stream as? any RewindableStream, !stream.isWhole else {
                return completion(self.nextPiece())
            }
            // No thread waits for bytes that are still arriving.
            stream.whenReadable { self.queue.async { completion(self.nextPiece()) } }
        }
    }

    private func nextPiece() -> Piece {
        if !isOpen {
            isOpen = true
            if stream.streamStatus == .notOpen { stream.open() }
        }
        var buffer = ByteBufferAllocator().buffer(capacity: Self.pieceSize)
        var count = 0
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.pieceSize) { bytes in
            guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
            count = stream.read(start, maxLength: min(bytes.count, Self.pieceSize))
            return min(max(0, count), bytes.count)
        }
        if count > 0 { return .bytes(buffer) }
        // Foundation ends the process when `streamError` is read of a stream that has no error.
        if stream.streamStatus == .error {
            return .failure(stream.streamError.map { "\($0)" } ?? "no reason was given")
        }
        if count < 0 { return .failure("the stream was closed while it was read") }
        return .end
    }
}

/// The body of a request.
enum RequestBody: Sendable {
    case none
    case data(Data)
    case stream(BodyStream)
}
#endif
