#if NIO
import Foundation
import NIOCore

/// Removes one coding: encoded bytes go in, decoded bytes are pulled out.
///
/// The scratch memory that the codec writes to is kept for the life of the stage.
final class DecodingStage {
    /// The largest number of bytes of one decoded piece.
    static let pieceSize = 64 << 10

    /// The number of bytes that were decoded so far.
    private(set) var decodedCount = 0

    /// The name of the coding.
    var name: String { codec.name }

    private let codec: any Codec
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 16)
    private var input = ByteBuffer()
    private var hasInput = false

    init(_ codec: any Codec) { self.codec = codec }

    deinit { scratch.deallocate() }

    func append(_ part: ByteBuffer) {
        guard part.readableBytes > 0 else { return }
        hasInput = true
        guard input.readableBytes > 0 else { return input = part }
        input.writeImmutableBuffer(part)
    }

    /// The next decoded bytes, or nil when more encoded bytes are needed.
    func next<Piece>(_ make: (UnsafeRawBufferPointer) -> Piece) throws(DecodingFailure) -> Piece? {
        do {
            while true {
                let progress = try input.withUnsafeReadableBytes { try codec.decode($0, into: scratch) }
                input.moveReaderIndex(forwardBy: progress.taken)
                if progress.written > 0 {
                    decodedCount = decodedCount.addingReportingOverflow(progress.written).partialValue
                    return make(UnsafeRawBufferPointer(rebasing: scratch[..<progress.written]))
                }
                guard progress.taken > 0 else { return nil }
            }
        } catch let error as CodecError {
            throw DecodingFailure(coding: codec.name, reason: error.reason)
        } catch {
            throw DecodingFailure(coding: codec.name, reason: "cannot be removed (\(error))")
        }
    }

    /// Checks that the encoded bytes are complete.
    ///
    /// An empty body is: a server that sends none need not encode it.
    func finish() throws(DecodingFailure) {
        guard !hasInput || (codec.isComplete && input.readableBytes == 0) else {
            throw DecodingFailure(
                coding: codec.name,
                reason: "ends too early, after \(decodedCount) decoded bytes; load the body again"
            )
        }
    }
}
#endif
