import Dispatch
import Synchronization
import WaystationFoundation

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
