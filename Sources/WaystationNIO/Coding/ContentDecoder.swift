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

/// The limits on what a content coding may expand to.
///
/// Decoded bytes are handed out in pieces of 64 KiB at most, so they never pile up here; the limits protect those who
/// keep the whole body.
struct DecodingLimits: Equatable, Sendable {
    /// The largest ratio of decoded to encoded bytes.
    ///
    /// Default: 1,100; deflate cannot exceed 1,032 and real bodies stay under 100, so the limit is only reached by
    /// bombs in br and zstd, or in more than one coding.
    var ratio = 1100
    /// The number of decoded bytes that are accepted at any ratio.
    ///
    /// Default: 16 MiB; a small body of zeros is legitimate, and br and zstd compress it by far more than 1,100.
    var bytesBeforeRatio = 16 << 20
    /// The largest ratio of the bytes that one coding hands to the next one, to those that arrived.
    ///
    /// Default: 16.
    ///
    /// The bytes that are handed on are encoded themselves, so they hardly expand. The limit is for bodies whose inner coding decodes to
    /// nothing: no other limit counts the work that they cost.
    var handedOnRatio = 16
    /// The number of bytes that one coding may hand to the next one at any ratio.
    ///
    /// Default: 1 MiB.
    var handedOnBytesBeforeRatio = 1 << 20
}

/// The reason why a content coding could not be removed.
struct DecodingFailure: Error, Equatable, CustomStringConvertible {
    /// The coding, such as `gzip`.
    var coding: String
    /// The second half of a sentence that starts with the name of the coding.
    var reason: String

    var description: String { "the content coding \(coding) \(reason)" }
}
#endif
