#if NIO
import NIOCore

/// Counts the frames of a server that carry nothing for an exchange, so that floods of them are noticed.
///
/// It reads the headers of frames only (RFC 9113 §4.1), before they are parsed, and therefore counts unknown frames,
/// CONTINUATION frames and frames on streams that are closed as well. DATA with content or END_STREAM is never counted:
/// flow control bounds it.
struct FloodDetector {
    /// The kinds of frames, for error texts.
    private static let names = [
        "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE",
        "CONTINUATION",
    ]
    private static let headerSize = 9

    private let limits: HTTP2Limits
    /// The header of the current frame as far as it has arrived; empty between two frames.
    private var header: [UInt8] = []
    /// The bytes of the current frame's payload that have not arrived.
    private var payload = 0
    /// The bytes of the current frame's payload that have arrived.
    private var begunPayload = 0
    private var count = 0
    private var sent = 0
    private var intervalEnd: NIODeadline?

    init(limits: HTTP2Limits) {
        self.limits = limits
        header.reserveCapacity(Self.headerSize)
    }

    /// The bytes of the current frame that have arrived; 0 if the last byte was the end of a frame.
    var begun: Int { header.count + begunPayload }

    /// Records that bytes were sent.
    mutating func send(_ bytes: Int) { sent = sent.addingReportingOverflow(bytes).partialValue & .max }

    /// Records that bytes arrived.
    ///
    /// - Returns: The kind of the frame that exceeded the limit, or nil if all is well.
    mutating func receive(_ bytes: ByteBuffer, now: NIODeadline) -> String? {
        startInterval(now)
        var bytes = bytes
        while bytes.readableBytes > 0 {
            if header.count < Self.headerSize {
                guard let byte = bytes.readInteger(as: UInt8.self) else { break }
                header.append(byte)
                guard header.count == Self.headerSize else { continue }
                payload = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
                if !hasContent { count += 1 }
                if count > allowed { return name(header[3]) }
            }
            let skipped = min(payload, bytes.readableBytes)
            bytes.moveReaderIndex(forwardBy: skipped)
            payload -= skipped
            begunPayload += skipped
            if payload == 0 {
                header.removeAll(keepingCapacity: true)
                begunPayload = 0
            }
        }
        return nil
    }

    /// The number of frames without content that are accepted in this interval.
    private var allowed: Int { limits.framesWithoutContent.addingReportingOverflow(sent / 4).partialValue }

    private var hasContent: Bool { header[3] == 0 && (payload > 0 || header[4] & 0x1 != 0) }

    private mutating func startInterval(_ now: NIODeadline) {
        if let intervalEnd, now < intervalEnd { return }
        intervalEnd = now + limits.floodInterval
        count = 0
        sent = 0
    }

    private func name(_ type: UInt8) -> String {
        Self.names.indices.contains(Int(type)) ? Self.names[Int(type)] : "type \(type)"
    }
}
#endif
