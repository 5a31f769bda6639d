import DequeModule
import Foundation
import FoundationNetworking

/// What is on its way to a task, and what may be told to it now: a state machine without side effects.
///
/// Events of the session and of the sources of a load come in as method calls; what is to be done comes back
/// as a value. It makes sure that nothing is delivered twice, out of order, while the task is suspended,
/// before its delegate has agreed to the response, or after the end.
struct Delivery {
    /// One thing to tell the client.
    enum Item {
        case response(HTTPURLResponse)
        case data(Data)
        /// To be called on the work queue, once everything before it was told.
        case reached(@Sendable () -> Void)
        case end((any Error)?)
    }

    /// What the session's call of `startLoading` means.
    enum Start: Equatable {
        /// The first one: begin to load.
        case begin
        /// The task was suspended: deliver what has arrived since.
        case resume
        /// Nothing is left to do.
        case ignore
    }

    private enum Phase { case idle, running, suspended, ended, cancelled }

    private var phase = Phase.idle
    private var items: Deque<Item> = []
    private var pendingBytes = 0
    private var awaitsDisposition = false

    /// How many bytes wait for the loading queue or the delegate, rather than for the task to be resumed.
    var deliverableBytes: Int { phase == .running ? pendingBytes : 0 }

    /// Whether the load is about to end with an error from outside: nothing else is told any more.
    private(set) var isAborted = false

    /// Whether the load is over, by its end or by a cancel.
    var hasEnded: Bool { phase == .ended || phase == .cancelled }

    /// Whether the client was told the end, so that nobody may tell it of another.
    var hasToldEnd: Bool { phase == .ended }

    mutating func start() -> Start {
        switch phase {
        case .idle:
            phase = .running
            return .begin
        case .suspended:
            phase = .running
            return .resume
        case .running: return .resume
        case .ended, .cancelled: return .ignore
        }
    }

    mutating func suspend() {
        if phase == .running { phase = .suspended }
    }

    /// Ends the load and drops what was not delivered.
    ///
    /// False when it was over already.
    mutating func cancel() -> Bool {
        guard !hasEnded else { return false }
        phase = .cancelled
        items = []
        pendingBytes = 0
        return true
    }

    /// Ends the load before its end: the client is told of a refusal at once.
    ///
    /// False when it was over already.
    mutating func refuse() -> Bool {
        guard cancel() else { return false }
        phase = .ended
        return true
    }

    /// Drops what was not delivered, and has the client told of an error next.
    ///
    /// False when the load was over already.
    mutating func abort(_ error: any Error) -> Bool {
        guard !hasEnded, !isAborted else { return false }
        isAborted = true
        items = [.end(error)]
        pendingBytes = 0
        // Nobody needs to agree to a response any more.
        awaitsDisposition = false
        return true
    }

    /// Takes an item in; after the end it is dropped.
    ///
    /// True when the queue must be visited for it.
    mutating func enqueue(_ item: Item) -> Bool {
        guard !hasEnded, !isAborted else { return false }
        if case .data(let data) = item { pendingBytes += data.count }
        items.append(item)
        return true
    }

    /// The next item to tell the client, if one may be told now.
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

    /// The delegate agreed to the response.
    mutating func allow() {
        awaitsDisposition = false
    }
}
