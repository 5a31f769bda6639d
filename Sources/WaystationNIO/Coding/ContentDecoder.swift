#if NIO
import Foundation
import NIOCore

/// Removes a content coding, such as gzip, from a body (RFC 9110 §8.4).
///
/// The exchange asks the decoder for decoded bytes; until then the decoder holds encoded bytes only.
protocol ContentDecoder {
    /// Adds encoded bytes. It is called when `next` has returned nil.
    mutating func append(_ part: ByteBuffer)
    /// The next decoded bytes, some 64 KiB at most, or nil when more encoded bytes are needed.
    ///
    /// Empty data says that much was decoded to nothing: the exchange lets others have their turn before it asks again.
    mutating func next() throws -> Data?
    /// Checks that the encoded bytes are complete.
    mutating func finish() throws
}

/// Makes a decoder for content codings, given in the order in which they were applied; nil if one is unknown.
typealias MakeContentDecoder = @Sendable (_ codings: [String], DecodingLimits) -> (any ContentDecoder)?
#endif
