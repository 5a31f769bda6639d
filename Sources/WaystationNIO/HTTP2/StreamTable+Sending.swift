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
    ///
    /// The codec checks the increments of the connection, and of streams on which a body is being sent. Those of the other
    /// streams mean nothing, but a wrong one is an error as well (RFC 9113 §6.9 and §6.9.1).
    @discardableResult
    mutating func sendWindow(growsBy increment: Int, on id: StreamID) -> StreamNews<Exchange>? {
        guard id != 0 else {
            connectionSendWindow = connectionSendWindow.addingReportingOverflow(increment).partialValue
            return nil
        }
        guard let window = streams[id]?.sendWindow else { return nil }
        guard increment > 0 else { return broken(id, .malformed("The server sent a WINDOW_UPDATE of 0.")) }
        guard window + increment <= Self.largestWindow else {
            return broken(id, .malformed("The server granted more than 2^31 - 1 bytes of window."), .flowControlError)
        }
        streams[id]?.sendWindow = window + increment
        return nil
    }

    /// Bytes of a body were not sent after all, because their stream ended while the codec held them back: other bodies
    /// may use their part of the connection's window.
    mutating func giveBack(_ count: Int) { connectionSendWindow += count }

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
