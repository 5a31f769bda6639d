#if NIO
import NIOHPACK

extension StreamTable {
    /// HEADERS arrived.
    mutating func receive(_ headers: HPACKHeaders, isLast: Bool, on id: StreamID) -> StreamNews<Exchange>? {
        guard let stream = streams[id] else { return nil }
        guard !stream.hasHead else {
            // Trailers are dropped, as libcurl does unless it is asked for them.
            guard isLast else { return broken(id, .malformed("The response has trailers that do not end its stream.")) }
            return complete(id)
        }
        switch ResponseHeadCheck.read(headers, maximumFields: limits.fields) {
        case .failure(let failure): return broken(id, failure)
        case .success(let head) where head.status < 200: return interim(head, isLast, id, stream)
        case .success(let head): return final(head, isLast, id, stream)
        }
    }

    private mutating func interim(
        _ head: EngineResponseHead,
        _ isLast: Bool,
        _ id: StreamID,
        _ stream: HTTP2Stream<Exchange>
    ) -> StreamNews<Exchange>? {
        guard !isLast else {
            return broken(id, .malformed("The server ended the response with the interim \(head.status)."))
        }
        // RFC 9113 §8.6: HTTP/2 has no upgrades.
        guard head.status != 101 else {
            return broken(id, .malformed("The server sent 101, which HTTP/2 does not know."))
        }
        guard stream.interims < limits.interimResponses else {
            return broken(
                id,
                ExchangeFailure(
                    kind: .limitExceeded,
                    explanation: """
                        The server sent more than \(limits.interimResponses) interim responses (1xx). Raise the limit \
                        if the server can be trusted.
                        """
                )
            )
        }
        streams[id]?.interims += 1
        return nil
    }

    private mutating func final(
        _ head: EngineResponseHead,
        _ isLast: Bool,
        _ id: StreamID,
        _ stream: HTTP2Stream<Exchange>
    ) -> StreamNews<Exchange>? {
        switch ResponseHeadCheck.contentLength(head.fields) {
        case .failure(let failure): return broken(id, failure)
        case .success(let length):
            // RFC 9110 §6.4.1: these responses have no content, whatever length they announce.
            let hasNoContent = stream.isHeadRequest || head.status == 204 || head.status == 304
            streams[id]?.missing = hasNoContent ? 0 : length
        }
        streams[id]?.hasHead = true
        answers += 1
        var news = StreamNews(exchange: stream.exchange, head: head)
        if isLast { news.end = complete(id)?.end }
        return news
    }

    /// DATA arrived; `count` is the number of its bytes without padding.
    mutating func receive(_ count: Int, isLast: Bool, on id: StreamID) -> StreamNews<Exchange>? {
        guard let stream = streams[id] else { return nil }
        guard stream.hasHead else { return broken(id, .malformed("The response has a body before its head.")) }
        if let missing = stream.missing {
            guard count <= missing else {
                return broken(id, .malformed("The body of the response is longer than its Content-Length."))
            }
            streams[id]?.missing = missing - Int64(count)
        }
        guard isLast else {
            return count > 0 ? StreamNews(exchange: stream.exchange, deliversPart: true) : nil
        }
        var news = complete(id)
        news?.deliversPart = count > 0
        return news
    }

    /// RST_STREAM arrived.
    mutating func receiveReset(_ failure: ExchangeFailure, on id: StreamID) -> StreamNews<Exchange>? {
        guard let stream = remove(id) else { return nil }
        var failure = failure
        let own = stream.hasHead ? 1 : 0
        if failure.unprocessed == .nothingAnswered, answers - own > stream.answersBefore {
            failure.unprocessed = .othersAnswered
        }
        return StreamNews(exchange: stream.exchange, end: .init(failure: failure))
    }

    /// The codec found a stream broken and has reset it.
    mutating func closedByCodec(_ id: StreamID, _ failure: ExchangeFailure) -> StreamNews<Exchange>? {
        receiveReset(failure, on: id)
    }

    // MARK: Windows

    /// The exchange cannot take more: no window is granted until `release`, so one window at most waits.
    mutating func hold(_ id: StreamID) { streams[id]?.isHeld = true }

    /// The exchange can take more; returns the window to grant.
    mutating func release(_ id: StreamID) -> Int? {
        streams[id]?.isHeld = false
        guard let window = streams[id]?.receiveWindow else { return nil }
        return grant(window, id)
    }

    /// The bytes that the server may still send on a stream; returns the window to grant.
    mutating func receiveWindow(is window: Int, on id: StreamID) -> Int? {
        streams[id]?.receiveWindow = window
        return grant(window, id)
    }

    /// The bytes that the server may still send on the connection; returns the window to grant.
    ///
    /// It is granted whether or not exchanges take their bytes, so that a slow one does not stop the others.
    mutating func connectionWindow(is window: Int) -> Int? {
        guard window <= limits.connectionWindow / 2 else { return nil }
        guard isWritable else {
            delayedConnectionWindow = window
            return nil
        }
        return limits.connectionWindow - window
    }

    /// The channel takes bytes again, or takes none.
    ///
    /// No window is granted while it takes none. The codec would keep the frame, and would report the old window with each
    /// further part of a body, so that windows would be granted again and again.
    ///
    /// - Returns: The windows to grant now.
    mutating func writable(_ isWritable: Bool) -> [(id: StreamID, increment: Int)] {
        self.isWritable = isWritable
        guard isWritable else { return [] }
        let (ids, connection) = (delayedGrants.sorted(), delayedConnectionWindow)
        delayedGrants = []
        delayedConnectionWindow = nil
        var grants: [(id: StreamID, increment: Int)] = []
        if let window = connection, let increment = connectionWindow(is: window) { grants.append((0, increment)) }
        for id in ids {
            guard let window = streams[id]?.receiveWindow, let increment = grant(window, id) else { continue }
            grants.append((id, increment))
        }
        return grants
    }

    private mutating func grant(_ window: Int, _ id: StreamID) -> Int? {
        guard let stream = streams[id], !stream.isHeld, window <= streamReceiveWindow / 2 else { return nil }
        guard isWritable else {
            delayedGrants.insert(id)
            return nil
        }
        streams[id]?.receiveWindow = streamReceiveWindow
        return streamReceiveWindow - window
    }

    // MARK: Ends

    /// The response is complete.
    ///
    /// An incomplete request is of no more use to the server (RFC 9113 §8.1).
    private mutating func complete(_ id: StreamID) -> StreamNews<Exchange>? {
        guard let stream = remove(id) else { return nil }
        var end = StreamNews<Exchange>.End(reset: stream.hasSentAll ? nil : .cancel)
        if let missing = stream.missing, missing > 0 {
            end.failure = .malformed("The body of the response is \(missing) bytes shorter than its Content-Length.")
        }
        return StreamNews(exchange: stream.exchange, end: end)
    }

    mutating func broken(
        _ id: StreamID,
        _ failure: ExchangeFailure,
        _ code: StreamNews<Exchange>.ResetCode = .protocolError
    ) -> StreamNews<Exchange>? {
        guard let stream = remove(id) else { return nil }
        return StreamNews(exchange: stream.exchange, end: .init(failure: failure, reset: code))
    }
}
#endif
