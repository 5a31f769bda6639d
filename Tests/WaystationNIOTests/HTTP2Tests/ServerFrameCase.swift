#if NIO
import Testing
import WaystationTestSupport

/// Frames of a server, and what the engine must do about them.
///
/// The cases are those of h2spec 2.6 that a server can send to a client, in its order and with its numbers; its cases
/// about requests have no counterpart here. Streams 1 and 3 are open and have no response yet.
struct ServerFrameCase: CustomTestStringConvertible {
    enum Outcome {
        /// The connection ends with GOAWAY and this code (RFC 9113 §5.4.1).
        case connectionError(ErrorCode)
        /// Stream 1 is reset with this code, and the connection stays (RFC 9113 §5.4.2).
        case streamError(ErrorCode)
        /// Nothing ends: stream 1 still gets its response.
        case ignored
        /// Stream 1 has got its response, with this body.
        case response([UInt8])
    }

    /// The codes of RFC 9113 §7 that the cases need.
    enum ErrorCode: UInt32 {
        case protocolError = 1
        case flowControlError = 3
        case streamClosed = 5
        case frameSizeError = 6
        case compressionError = 9
    }

    /// The number in h2spec.
    let number: String
    let title: String
    let frames: [[UInt8]]
    /// Whether the request on stream 1 is not complete yet.
    let isUploading: Bool
    let outcome: Outcome

    init(
        _ number: String,
        _ title: String,
        _ frames: [UInt8]...,
        whileUploading isUploading: Bool = false,
        outcome: Outcome
    ) {
        self.number = number
        self.title = title
        self.frames = frames
        self.isUploading = isUploading
        self.outcome = outcome
    }

    var testDescription: String { "\(number): \(title)" }
}

extension ServerFrameCase {
    static let ok = RawFrames.block(ScriptedServer.ok)
    static let head = RawFrames.headers(1, ScriptedServer.ok)
    static let response = RawFrames.headers(1, ScriptedServer.ok, isLast: true)
    /// A head whose block a CONTINUATION must end.
    static let openHead = RawFrames.frame(1, on: 1, ok)

    static func continuation(_ block: [UInt8] = [], on id: UInt32 = 1, isLast: Bool = true) -> [UInt8] {
        RawFrames.frame(9, flags: isLast ? 0x4 : 0, on: id, block)
    }

    /// A response whose head is this block.
    static func response(_ block: [UInt8]) -> [UInt8] { RawFrames.frame(1, flags: 0x5, on: 1, block) }

    static let all = framing + streamStates + frameRules + settings + windows + continuations + messages + compression
}
#endif
