#if NIO
import NIOCore

extension StreamTable {
    /// The next step of sending bodies.
    enum SendStep {
        case write(StreamID, ByteBuffer, isLast: Bool)
        /// The exchange is asked for the next part of its body.
        case ask(Exchange)
    }

    /// A part of a body; it waits for window.
    ///
    /// Parts that were not asked for are added to those that wait.
    mutating func give(_ part: ByteBuffer, isLast: Bool, to id: StreamID) {
        guard var stream = streams[id], !stream.hasSentAll, !stream.unsentIsLast else { return }
        streams[id] = nil
        stream.isAsked = false
        if stream.unsent.readableBytes == 0 {
            stream.unsent = part
        } else {
            stream.unsent.writeImmutableBuffer(part)
        }
        stream.unsentIsLast = isLast
        streams[id] = stream
    }

    /// The server accepts more bytes on a stream, or on the connection if `id` is 0.
    mutating func sendWindow(growsBy increment: Int, on id: StreamID) {
        if id == 0 {
            connectionSendWindow = connectionSendWindow.addingReportingOverflow(increment).partialValue
        } else if let window = streams[id]?.sendWindow {
            streams[id]?.sendWindow = window.addingReportingOverflow(increment).partialValue
        }
    }

    /// Returns the next step of an upload that the windows allow; nil if they allow none.
    ///
    /// Uploads take turns.
    /// - Parameter maximum: The largest number of bytes of one step.
    /// - Returns: The step.
    mutating func nextSendStep(maximum: Int) -> SendStep? {
        for _ in uploads.indices {
            turn = turn < uploads.count - 1 ? turn + 1 : 0
            if let step = sendStep(uploads[turn], maximum) { return step }
        }
        return nil
    }

    private mutating func sendStep(_ id: StreamID, _ maximum: Int) -> SendStep? {
        guard let stream = streams[id] else { return nil }
        let window = min(stream.sendWindow, connectionSendWindow)
        guard stream.hasUnsent else {
            guard !stream.isAsked, window > 0 else { return nil }
            streams[id]?.isAsked = true
            return .ask(stream.exchange)
        }
        // A last part without bytes needs no window (RFC 9113 §6.9.1).
        let count = max(0, min(window, maximum, stream.unsent.readableBytes))
        guard count > 0 || stream.unsent.readableBytes == 0 else { return nil }
        return write(id, count)
    }

    private mutating func write(_ id: StreamID, _ count: Int) -> SendStep? {
        guard var stream = streams[id], let bytes = stream.unsent.readSlice(length: count) else { return nil }
        let isLast = stream.unsentIsLast && stream.unsent.readableBytes == 0
        if stream.unsent.readableBytes == 0 { stream.unsent = ByteBuffer() }
        stream.sendWindow -= count
        connectionSendWindow -= count
        stream.hasSentAll = isLast
        streams[id] = stream
        if isLast { uploads.removeAll { $0 == id } }
        return .write(id, bytes, isLast: isLast)
    }
}
#endif
