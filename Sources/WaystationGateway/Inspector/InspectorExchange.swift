#if Gateway
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import Waystation

/// One request to the inspector and its response.
///
/// All its work is done on the event loop of the connection, except for the answer itself.
final class InspectorExchange {
    private let channel: any Channel
    private let writer: ResponseWriter
    private let inspector: Inspector
    private let head: HTTPRequestHead
    private let endResponse: (_ closes: Bool) -> Void
    private let closes: Bool
    private var stream: LoadStream?
    private var isOver = false

    /// Makes the exchange of a request; call it on the channel's event loop.
    ///
    /// - Parameters:
    ///   - inspector: The inspector.
    ///   - head: The head as it arrived.
    ///   - closes: Whether the connection ends with the response.
    ///   - channel: The connection.
    ///   - writer: Writes the response.
    ///   - endResponse: Writes the end of the response; called once, on the event loop, unless the connection is
    ///     closed instead.
    init(
        _ inspector: Inspector,
        _ head: HTTPRequestHead,
        closes: Bool,
        on channel: any Channel,
        _ writer: ResponseWriter,
        endResponse: @escaping (_ closes: Bool) -> Void
    ) {
        self.inspector = inspector
        self.head = head
        self.closes = closes
        self.channel = channel
        self.writer = writer
        self.endResponse = endResponse
    }

    /// Answers the request.
    func begin() {
        do throws(Refusal) {
            guard case .admitted(let request) = try inspector.gate.admit(head) else {
                return write(.entry(inspector.gate))
            }
            let route = try InspectorRoute(request)
            if route == .loads { return streamLoads() }
            let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
            let loop = channel.eventLoop
            Task { [inspector] in
                let response = await inspector.response(to: route)
                loop.execute { bound.value.write(response) }
            }
        } catch { write(InspectorResponse(error)) }
    }

    /// The browser has left.
    func cancel() {
        isOver = true
        stream?.end()
        stream = nil
    }

    /// The connection takes bytes again.
    func becameWritable() { stream?.goOn() }

    /// Whether the response has no end of its own, so that the gateway need not wait for it when it stops.
    var isEndless: Bool { stream != nil }

    private func write(_ response: InspectorResponse) {
        guard !isOver else { return }
        isOver = true
        writer.begin(response.head(head.version).saying(closes: closes), .length(response.body.count))
        if head.method != .HEAD { writer.append(response.body) }
        endResponse(closes)
    }

    /// Writes the loads as server-sent events (HTML §9.2) until the browser leaves.
    private func streamLoads() {
        var headers = InspectorResponse.protection
        headers.add(name: "Content-Type", value: "text/event-stream")
        let isChunked = head.version == .http1_1
        if isChunked { headers.add(name: "Transfer-Encoding", value: "chunked") }
        let answer = HTTPResponseHead(version: head.version, status: .ok, headers: headers)
        writer.begin(answer.saying(closes: closes), isChunked ? .chunked : .close)
        let last = head.headers.first(name: "Last-Event-ID").flatMap { Int($0) } ?? 0
        let stream = LoadStream(inspector.log, after: max(0, last), on: channel, writer, encodingOn: inspector.listing)
        self.stream = stream
        stream.start()
    }
}

/// The inspector's part that begins with a gateway: its secret, and the loads and events since then.
final class Inspection: Sendable {
    let secret = InspectorSecret()
    let log = LoadLog()
    let events = EventLog()
    private let endRecording = Mutex<(@Sendable () -> Void)?>(nil)

    deinit { end() }

    /// Begins to record the loads and the events of an interceptor.
    func begin(_ interceptor: Interceptor) {
        let endLoads = interceptor.addRecorder(log)
        let (stream, now) = (interceptor.events, interceptor.now)
        let reading = Task { [events] in
            for await event in stream { events.add(event, at: now()) }
        }
        endRecording.withLock {
            $0 = {
                endLoads()
                reading.cancel()
            }
        }
    }

    /// Records no more loads and events.
    func end() {
        let end = endRecording.withLock { endRecording in
            defer { endRecording = nil }
            return endRecording
        }
        end?()
    }
}
#endif
