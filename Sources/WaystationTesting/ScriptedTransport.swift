import Synchronization
public import Waystation
public import WaystationFoundation

/// A network in memory whose answers a test scripts.
///
/// ```swift
/// let network = ScriptedTransport { request in
///     request.url?.path == "/hello" ? .ok("hello") : .failed(.notConnectedToInternet)
/// }
/// let interceptor = try Interceptor {
///     $0.rules = [.allow("https://shop.example/**", via: .cache(.networkFirst()))]
///     $0.cache = try ResponseCache(directory: directory)
///     $0.makeTransport = { _ in network }
/// }
/// ```
///
/// It needs no socket and no port, and every host exists in it. The script decides what arrives, in what order, and
/// where it stops; see ``Answer``. Each exchange calls its receiver on a serial queue of its own, so an exchange that
/// is held back does not delay others. When nothing happens for longer than the request's `timeoutInterval`, the
/// exchange ends with `URLError.timedOut`. Requests and cancellations are recorded, and a test can wait for them. All
/// members may be called from any thread.
///
/// An interceptor with this transport sends every data task here; no load reaches the real network.
public final class ScriptedTransport: Transport {
    /// Returns the answer to a request; called within ``start(_:receiver:)``.
    public typealias Script = @Sendable (URLRequest) -> Answer

    /// Runs work after a delay.
    public typealias Schedule = @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void

    private struct Log {
        var requests: [URLRequest] = []
        var cancelled: [URLRequest] = []
        var waiters: [(isDue: @Sendable (Log) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let script: Script
    private let schedule: Schedule
    /// Whether an answer that waits at a gate times out.
    private let limitsGates: Bool
    private let log = Mutex(Log())

    /// Makes a network that answers with `script`.
    ///
    /// - Parameters:
    ///   - schedule: Runs the check of a request's timeout after a delay; nil, the default, uses a dispatch timer. With
    ///     a schedule of its own a test runs the check of the timeout without a wait.
    ///   - script: Returns the answer to each request.
    public init(
        schedule: Schedule? = nil,
        script: @escaping Script
    ) {
        self.schedule =
            schedule ?? { DispatchQueue.global().asyncAfter(deadline: .now() + $0 / .seconds(1), execute: $1) }
        limitsGates = true
        self.script = script
    }

    private init(inVirtualTime script: @escaping Script) {
        schedule = { _, work in work() }
        limitsGates = false
        self.script = script
    }

    /// Makes a network whose delays and time-outs pass at once; an answer that waits at a gate does not time out.
    static func inVirtualTime(script: @escaping Script) -> ScriptedTransport {
        ScriptedTransport(inVirtualTime: script)
    }

    /// The requests sent so far, in their order.
    public var requests: [URLRequest] { log.withLock { $0.requests } }

    /// The requests that were cancelled before their end, in the order of their cancellation.
    public var cancelledRequests: [URLRequest] { log.withLock { $0.cancelled } }

    /// Waits until `count` requests have been sent, and returns ``requests`` at that time.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> [URLRequest] {
        await wait { $0.requests.count >= count }
        return requests
    }

    /// Waits until `count` requests have been cancelled, and returns ``cancelledRequests`` at that time.
    @discardableResult
    public func waitForCancelledRequests(_ count: Int) async -> [URLRequest] {
        await wait { $0.cancelled.count >= count }
        return cancelledRequests
    }

    /// Records the request and begins the script's answer.
    public func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        change { $0.requests.append(request) }
        let exchange = ScriptedExchange(request, script(request), receiver, schedule, limitsGates: limitsGates) {
            [weak self] in
            self?.change { $0.cancelled.append(request) }
        }
        exchange.goOn()
        return exchange
    }

    private func change(_ body: (inout Log) -> Void) {
        let due = log.withLock { log in
            body(&log)
            let now = log
            defer { log.waiters.removeAll { $0.isDue(now) } }
            return log.waiters.filter { $0.isDue(now) }
        }
        for waiter in due { waiter.continuation.resume() }
    }

    private func wait(until isDue: @escaping @Sendable (Log) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDueAlready = log.withLock { log in
                if !isDue(log) {
                    log.waiters.append((isDue, continuation))
                    return false
                }
                return true
            }
            if isDueAlready { continuation.resume() }
        }
    }
}

/// One answer in progress.
private final class ScriptedExchange: TransportExchange {
    private struct State {
        var steps: ArraySlice<ScriptedTransport.Step>
        /// How many steps were taken; a timer that was set before the latest step no longer counts.
        var taken = 0
        var isOver = false
    }

    private let request: URLRequest
    private let receiver: any TransportReceiver
    private let noteCancel: @Sendable () -> Void
    private let schedule: ScriptedTransport.Schedule
    private let limitsGates: Bool
    private let queue = DispatchQueue(label: "waystation.scripted-transport")
    private let state: Mutex<State>

    init(
        _ request: URLRequest,
        _ answer: ScriptedTransport.Answer,
        _ receiver: any TransportReceiver,
        _ schedule: @escaping ScriptedTransport.Schedule,
        limitsGates: Bool,
        noteCancel: @escaping @Sendable () -> Void
    ) {
        self.request = request
        self.receiver = receiver
        self.noteCancel = noteCancel
        self.schedule = schedule
        self.limitsGates = limitsGates
        state = Mutex(State(steps: answer.steps[...]))
    }

    func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { noteCancel() }
    }

    /// Ends the exchange if nothing happens for the request's timeout; 0 means no timeout.
    func watch() {
        let taken: Int? = state.withLock { $0.isOver ? nil : $0.taken }
        guard let taken, let limit = request.silenceLimit else { return }
        schedule(limit) { [weak self] in
            guard let self else { return }
            queue.async {
                let isDue = self.state.withLock { state in
                    guard !state.isOver, state.taken == taken else { return false }
                    state.isOver = true
                    return true
                }
                if isDue { self.receiver.transportDidEnd(URLError(.timedOut)) }
            }
        }
    }

    /// Reports the steps up to the next closed gate to the receiver, on the exchange's queue.
    func goOn() {
        queue.async {
            while let step = self.nextStep() {
                switch step {
                case .wait(let gate):
                    if self.limitsGates { self.watch() }
                    return gate.whenOpen { self.goOn() }
                case .delay(let delay):
                    return self.wait(delay)
                default: self.report(step)
                }
            }
            self.watch()
        }
    }

    /// Continues after a delay, unless the request times out before.
    private func wait(_ delay: Duration) {
        guard let limit = request.silenceLimit, delay >= limit else { return schedule(delay) { self.goOn() } }
        watch()
    }

    private func nextStep() -> ScriptedTransport.Step? {
        state.withLock { state in
            guard !state.isOver, let step = state.steps.popFirst() else { return nil }
            switch step {
            case .end, .error: state.isOver = true
            case .head, .part, .sent: state.taken += 1
            case .wait, .delay: break
            }
            return step
        }
    }

    private func report(_ step: ScriptedTransport.Step) {
        switch step {
        case .head(let status, let fields):
            guard let url = request.url else { return }
            receiver.transportDidReceive(ResponseHead(url: url, statusCode: status, fields: fields))
        case .part(let data): receiver.transportDidReceive(data)
        case .sent(let count, let total, let expected):
            receiver.transportDidSend(count, total: total, expected: expected)
        case .end: receiver.transportDidEnd(nil)
        case .error(let error): receiver.transportDidEnd(error)
        case .wait, .delay: break
        }
    }
}

extension ScriptedTransport {
    /// A point at which an answer waits until the test opens the gate.
    ///
    /// One gate may hold several answers, and stays open once opened.
    public final class Gate: Sendable {
        private struct State {
            var isOpen = false
            var waiting: [@Sendable () -> Void] = []
        }

        private let state = Mutex(State())

        /// Makes a closed gate.
        public init() {}

        /// Lets all answers that wait at this gate continue, now and in the future.
        public func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for goOn in waiting { goOn() }
        }

        func whenOpen(_ goOn: @escaping @Sendable () -> Void) {
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(goOn) }
                return state.isOpen
            }
            if isOpen { goOn() }
        }
    }
}

extension ScriptedTransport {
    /// One event in an exchange.
    public enum Step: Sendable {
        /// The head of the response arrives.
        case head(Int, fields: [String: String] = [:])
        /// A part of the response's body arrives, decoded.
        case part(Data)
        /// A part of the request's body is sent: the bytes in this part, the bytes sent so far, and the bytes expected
        /// in all.
        case sent(Int64, total: Int64, expected: Int64)
        /// Nothing happens until the gate opens.
        case wait(Gate)
        /// Nothing happens for a time, which passes by the transport's `schedule`.
        ///
        /// If it is not shorter than the request's `timeoutInterval`, the exchange times out.
        case delay(Duration)
        /// The response is complete.
        case end
        /// The exchange fails with an error.
        case error(URLError)
    }

    /// The events after a request was sent.
    public struct Answer: Sendable {
        /// The events, in this order.
        ///
        /// Without an ``Step/end`` or ``Step/error(_:)`` the exchange stays open until it is cancelled or times out.
        public var steps: [Step]

        /// Makes an answer from steps, for cases that the other functions do not cover.
        public init(_ steps: [Step]) {
            self.steps = steps
        }

        /// A whole response.
        public static func status(_ status: Int, fields: [String: String] = [:], body: Data = Data()) -> Answer {
            Answer([.head(status, fields: fields)] + (body.isEmpty ? [] : [.part(body)]) + [.end])
        }

        /// `200 OK` with a body of text.
        public static func ok(_ text: String = "", fields: [String: String] = [:]) -> Answer {
            status(200, fields: fields, body: Data(text.utf8))
        }

        /// A redirect without a body; the location is sent as it stands.
        public static func redirect(_ status: Int = 302, to location: String) -> Answer {
            self.status(status, fields: ["Location": location])
        }

        /// Fails with an error and without a response.
        public static func failed(_ code: URLError.Code) -> Answer { Answer([.error(URLError(code))]) }

        /// Sends nothing, until the exchange is cancelled or the request times out.
        public static var unanswered: Answer { Answer([]) }

        /// Returns this answer, held back until the gate opens.
        public func held(at gate: Gate) -> Answer { Answer([.wait(gate)] + steps) }
    }
}

extension URLRequest {
    /// The longest time in which nothing happens in an exchange; nil if the request has no limit.
    var silenceLimit: Duration? {
        // An infinite number of seconds is no `Duration`, so the limit is about 30 years at most.
        timeoutInterval > 0 ? .seconds(min(timeoutInterval, 1_000_000_000)) : nil
    }
}
