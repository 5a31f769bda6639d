import Dispatch
import Synchronization
public import WaystationFoundation

/// Gets every load that an interceptor took, with request, response and body, so that it can keep a recording.
///
/// Set one as ``Interceptor/Configuration/recorder``. `HARRecorder` of the module WaystationRecording writes HAR files.
public protocol ExchangeRecorder: Sendable {
    /// The number of bytes of each body that are collected; further bytes are counted and not kept.
    var bodyLimit: Int { get }

    /// Called when a load ends, by its answer or by an error, before the app gets the end.
    ///
    /// A redirect that is followed is reported as an exchange of its own. It is called on any thread, often on the
    /// queue that all sessions of the process share: return at once.
    func exchangeDidEnd(_ exchange: RecordedExchange)

    /// Called when a load ends because it was cancelled, in place of ``exchangeDidEnd(_:)``.
    ///
    /// The exchange has the response and the number of bytes that the app had got by then, and the error
    /// `URLError.cancelled`. The bytes that Foundation's own loader has delivered are not counted. The method is called
    /// on any thread: return at once. The default implementation does nothing.
    func exchangeWasCancelled(_ exchange: RecordedExchange)
}

extension ExchangeRecorder {
    /// Does nothing: a recorder that wants cancelled loads has a method of its own.
    public func exchangeWasCancelled(_ exchange: RecordedExchange) {}
}

/// One request and its result, as the app saw it.
public struct RecordedExchange: Sendable {
    /// The request that was answered: the app's request, or the one that a redirect or credentials made of it.
    public var request: URLRequest
    /// The response; nil when the load failed without one.
    public var response: HTTPURLResponse?
    /// The body as it was delivered, without content coding, cut at the recorder's limit.
    ///
    /// It is nil when it was not seen, because Foundation wrote it into the file of a download or because it belongs to
    /// a redirect.
    public var body: Data?
    /// The number of bytes that the body had.
    public var bodyLength: Int
    /// The source of the answer; nil for a redirect that was followed.
    public var source: LoadEvent.Source?
    /// The index of the rule that decided about the request; nil if no rule did.
    public var rule: Int?
    /// The error of a load that failed; nil otherwise.
    public var error: URLError?
    /// The time at which the load began, by the interceptor's clock.
    public var begun: Date
    /// The time from the beginning to the response, in seconds.
    public var wait: TimeInterval
    /// The time from the beginning to the end, in seconds.
    public var duration: TimeInterval

    /// Whether ``body`` has fewer bytes than were delivered.
    public var isBodyCut: Bool { (body?.count ?? 0) < bodyLength }

    /// Makes an exchange; for recorders and their tests.
    public init(
        request: URLRequest,
        response: HTTPURLResponse? = nil,
        body: Data? = nil,
        bodyLength: Int? = nil,
        source: LoadEvent.Source? = nil,
        rule: Int? = nil,
        error: URLError? = nil,
        begun: Date,
        wait: TimeInterval = 0,
        duration: TimeInterval = 0
    ) {
        self.request = request
        self.response = response
        self.body = body
        self.bodyLength = bodyLength ?? body?.count ?? 0
        self.source = source
        self.rule = rule
        self.error = error
        self.begun = begun
        self.wait = wait
        self.duration = duration
    }
}

/// The recorders of an interceptor: that of its configuration, and those that are added while it runs.
final class Recorders: Sendable {
    private let all: Mutex<[(id: Int, recorder: any ExchangeRecorder)]>
    /// Read first for every load, because most interceptors have no recorder.
    private let count: Atomic<Int>
    private let added = Atomic(0)

    /// Begins with the recorder of the configuration.
    init(_ recorder: (any ExchangeRecorder)?) {
        all = Mutex(recorder.map { [(0, $0)] } ?? [])
        count = Atomic(recorder == nil ? 0 : 1)
    }

    /// The recorder for a load that begins now; nil if no recorder is registered.
    var current: (any ExchangeRecorder)? {
        guard count.load(ordering: .relaxed) > 0 else { return nil }
        let recorders = all.withLock { $0.map(\.recorder) }
        return recorders.count > 1 ? SeveralRecorders(recorders) : recorders.first
    }

    /// Adds a recorder for the loads that begin from now on, and returns the function that removes it.
    func add(_ recorder: any ExchangeRecorder) -> @Sendable () -> Void {
        let id = added.add(1, ordering: .relaxed).newValue
        all.withLock { $0.append((id, recorder)) }
        count.add(1, ordering: .relaxed)
        return { [weak self] in
            guard let self else { return }
            let isRemoved = all.withLock { all in
                let before = all.count
                all.removeAll { $0.id == id }
                return all.count < before
            }
            if isRemoved { count.subtract(1, ordering: .relaxed) }
        }
    }
}

/// Passes each exchange to several recorders, with no more of its body than each of them collects.
private struct SeveralRecorders: ExchangeRecorder {
    let recorders: [any ExchangeRecorder]

    init(_ recorders: [any ExchangeRecorder]) { self.recorders = recorders }

    var bodyLimit: Int { recorders.map(\.bodyLimit).max() ?? 0 }

    func exchangeDidEnd(_ exchange: RecordedExchange) {
        for recorder in recorders { recorder.exchangeDidEnd(exchange.cut(to: recorder.bodyLimit)) }
    }

    func exchangeWasCancelled(_ exchange: RecordedExchange) {
        for recorder in recorders { recorder.exchangeWasCancelled(exchange.cut(to: recorder.bodyLimit)) }
    }
}

extension RecordedExchange {
    /// The exchange with no more of its body than a number of bytes.
    fileprivate func cut(to limit: Int) -> RecordedExchange {
        guard let body, body.count > limit else { return self }
        var exchange = self
        exchange.body = Data(body.prefix(max(0, limit)))
        return exchange
    }
}

/// The data that is collected about one load while a recorder is set.
///
/// The bytes that the app gets pass through ``LoadClient``; the load's event gives their source. The two arrive in any
/// order. When both have arrived, the recorder gets the exchange, once.
final class ExchangeRecording: Sendable {
    private struct State {
        var exchange: RecordedExchange
        var start: DispatchTime
        var isUnseen = false
        var isDelivered = false
        var isExplained = false
        var isOver = false

        /// Seconds since the request was begun.
        var elapsed: TimeInterval {
            Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
        }
    }

    private let recorder: any ExchangeRecorder
    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    init(_ request: URLRequest, _ recorder: any ExchangeRecorder, now: @escaping @Sendable () -> Date) {
        self.recorder = recorder
        self.now = now
        state = Mutex(State(exchange: RecordedExchange(request: request, begun: now()), start: .now()))
    }

    /// Replaces the request: one with credentials, or one after a redirect, is now being answered.
    func isAnswering(_ request: URLRequest) {
        state.withLock { $0.exchange.request = request }
    }

    /// Records that the body is not visible, because Foundation writes it to a file.
    func bodyIsUnseen() {
        state.withLock { $0.isUnseen = true }
    }

    /// Reports a redirect that is followed as an exchange of its own.
    func didRedirect(_ response: HTTPURLResponse, to next: URLRequest) {
        let begun = now()
        let redirected: RecordedExchange? = state.withLock { state in
            // A cancel may have come first, and has reported the exchange.
            guard !state.isOver else { return nil }
            var redirected = state.exchange
            redirected.response = response
            redirected.wait = state.elapsed
            redirected.duration = redirected.wait
            state.exchange = RecordedExchange(request: next, begun: begun)
            state.start = .now()
            return redirected
        }
        if let redirected { recorder.exchangeDidEnd(redirected) }
    }

    // MARK: - Response and body

    func didReceive(_ response: URLResponse) {
        state.withLock { state in
            state.exchange.response = response as? HTTPURLResponse
            state.exchange.wait = state.elapsed
            state.exchange.body = state.isUnseen ? nil : Data()
            state.exchange.bodyLength = 0
        }
    }

    func didLoad(_ data: Data) {
        state.withLock { state in
            let room = max(0, recorder.bodyLimit - state.exchange.bodyLength)
            state.exchange.bodyLength += data.count
            guard !state.isUnseen, room > 0 else { return }
            if state.exchange.body?.isEmpty ?? true {
                // The first piece of a body is shared and not copied, because most bodies arrive in one piece.
                state.exchange.body = data.prefix(room)
            } else {
                state.exchange.body?.append(data.prefix(room))
            }
        }
    }

    /// Records the end of the load; `response` is the task's response, for loads that reported none before.
    func didEnd(_ error: (any Error)? = nil, with response: URLResponse? = nil) {
        report { state in
            if state.exchange.response == nil, let response = response as? HTTPURLResponse {
                state.exchange.response = response
                state.exchange.wait = state.elapsed
                // Foundation's loader reports no response to a load without a delegate, although the body has arrived.
                if !state.isUnseen, state.exchange.body == nil { state.exchange.body = Data() }
            }
            state.exchange.duration = state.elapsed
            state.exchange.error = error.map { ($0 as? URLError) ?? URLError(.unknown, failing: nil, "\($0)") }
            state.isDelivered = true
        }
    }

    // MARK: - Source

    func isExplained(by event: LoadEvent.Kind, decidedBy rule: Int?) {
        switch event {
        case .served(let source, _, _):
            report { state in
                state.exchange.source = source
                state.exchange.rule = rule
                state.isExplained = true
            }
        case .failed, .blocked, .openedElsewhere:
            report { state in
                state.exchange.rule = rule
                state.isExplained = true
            }
        case .cancelled: wasCancelled(decidedBy: rule)
        default: break
        }
    }

    /// Reports the load as cancelled, unless it was reported before.
    func wasCancelled(decidedBy rule: Int?) {
        let cancelled: RecordedExchange? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.isOver = true
            state.exchange.rule = rule
            state.exchange.duration = state.elapsed
            state.exchange.error = URLError(.cancelled, failing: state.exchange.request.url, "the load was cancelled")
            return state.exchange
        }
        if let cancelled { recorder.exchangeWasCancelled(cancelled) }
    }

    /// Changes the exchange, and reports it once it is delivered and explained.
    private func report(_ change: (inout State) -> Void) {
        let complete: RecordedExchange? = state.withLock { state in
            guard !state.isOver else { return nil }
            change(&state)
            guard state.isDelivered, state.isExplained else { return nil }
            state.isOver = true
            return state.exchange
        }
        if let complete { recorder.exchangeDidEnd(complete) }
    }
}
