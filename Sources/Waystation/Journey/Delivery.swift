import Dispatch
import WaystationFoundation
import WaystationStorage

/// The items that wait for delivery to the client of a load, and which of them may be delivered now.
///
/// This type is a state machine without side effects. Events of the client and of the sources of a load arrive as
/// method calls, and the required action is returned as a value. It makes sure that nothing is delivered twice, out of
/// order, while the load is suspended, before the client has agreed to the response, or after the end.
struct Delivery {
    /// One item to deliver to the client.
    enum Item {
        case response(ResponseHead)
        case data(Data)
        /// Work to run on the client's queue, after all earlier items were delivered.
        case reached(@Sendable () -> Void)
        case end((any Error)?)
    }

    private enum Phase { case idle, running, suspended, ended, cancelled }

    private var phase = Phase.idle
    private var items: Queue<Item> = []
    /// The number of bytes that wait for the client, also while the load is suspended.
    private(set) var pendingBytes = 0
    private var awaitsDisposition = false

    /// The number of bytes that wait for the client.
    ///
    /// Zero while they wait for the load to be resumed.
    var deliverableBytes: Int { phase == .running ? pendingBytes : 0 }

    /// Whether the load is about to end with an error from outside: no other item is delivered any more.
    private(set) var isAborted = false

    /// Whether the load is over, because it ended or was cancelled.
    var hasEnded: Bool { phase == .ended || phase == .cancelled }

    /// Whether the end was reported to the client, so that no other end may be reported.
    var hasReportedEnd: Bool { phase == .ended }

    /// Begins the delivery, or continues it after a suspension; changes nothing after the end.
    mutating func start() {
        if phase == .idle || phase == .suspended { phase = .running }
    }

    mutating func suspend() {
        if phase == .running { phase = .suspended }
    }

    /// Ends the load.
    ///
    /// - Returns: The items that were not delivered, which the caller releases outside of its lock, because a body may be
    ///   an object of a transport; nil when the load was already over.
    mutating func cancel() -> Queue<Item>? {
        guard !hasEnded else { return nil }
        phase = .cancelled
        pendingBytes = 0
        defer { items = [] }
        return items
    }

    /// Ends the load early, because its response was refused: the client gets the end at once.
    ///
    /// - Returns: As ``cancel()``.
    mutating func refuse() -> Queue<Item>? {
        let dropped = cancel()
        if dropped != nil { phase = .ended }
        return dropped
    }

    /// Drops the items that were not delivered, and makes an error the next item.
    ///
    /// - Returns: As ``cancel()``.
    mutating func abort(_ error: any Error) -> Queue<Item>? {
        guard !hasEnded, !isAborted else { return nil }
        isAborted = true
        defer { items = [.end(error)] }
        pendingBytes = 0
        // The client's answer to the response no longer matters.
        awaitsDisposition = false
        return items
    }

    /// Adds an item, or drops it when the load has ended.
    ///
    /// Returns true when the client's queue must be visited to deliver the item.
    mutating func enqueue(_ item: Item) -> Bool {
        guard !hasEnded, !isAborted else { return false }
        if case .data(let data) = item { pendingBytes += data.count }
        items.append(item)
        return true
    }

    /// The next item to deliver to the client, if one may be delivered now.
    mutating func next() -> Item? {
        guard phase == .running, !awaitsDisposition, let item = items.popFirst() else { return nil }
        switch item {
        case .response: awaitsDisposition = true
        case .data(let data): pendingBytes -= data.count
        case .reached: break
        case .end: phase = .ended
        }
        return item
    }

    /// Records that the client agreed to the response.
    mutating func allow() {
        awaitsDisposition = false
    }
}

/// Delivers a response and its long body from a source to the client of a load.
///
/// A client that keeps the parts gets the body in one piece. A client that passes them on gets it in chunks, only as
/// fast as it takes them, so that memory use stays flat.
///
/// The response is delivered with the first bytes: if those cannot be read, nothing has been delivered yet, and the
/// load restarts.
struct BodyPump: Sendable {
    /// Large enough that the cost of the hops between queues does not count, and small enough to hold a few in memory.
    private static let chunkSize = 512 << 10

    enum End: Sendable {
        case complete
        case failed(URLError)
        /// Nothing was delivered; the load restarts.
        case restarted(URLError)
    }

    let response: HTTPURLResponse
    let source: any BodySource
    let journey: Journey
    let ended: @Sendable (End) -> Void

    /// Starts to deliver.
    ///
    /// Call it on the client's queue.
    func start(_ client: any JourneyClient) {
        read(at: 0, chunk: client.isStreamed ? Self.chunkSize : source.length)
    }

    private func read(at offset: Int, chunk: Int) {
        DispatchQueue.global().async {
            guard !journey.hasEnded else { return }
            guard offset < source.length || offset == 0 else { return end() }
            do {
                let data = try source.read(at: offset, count: min(chunk, source.length - offset))
                let next = offset + data.count
                if offset == 0 { journey.deliver(.response(ResponseHead(response))) }
                guard !data.isEmpty else { return end() }
                journey.deliver(.data(data))
                journey.deliver { client in client.whenPassedOn { read(at: next, chunk: chunk) } }
            } catch {
                fail(
                    URLError(
                        .cannotDecodeRawData,
                        failing: journey.context.request.url,
                        "\(error)",
                        underlying: error
                    ),
                    at: offset
                )
            }
        }
    }

    private func end() {
        ended(.complete)
        journey.deliver(.end(nil))
    }

    private func fail(_ error: URLError, at offset: Int) {
        if offset == 0, journey.restart() { return ended(.restarted(error)) }
        ended(.failed(error))
        journey.deliver(.end(error))
    }
}
