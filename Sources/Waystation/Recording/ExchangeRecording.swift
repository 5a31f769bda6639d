import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// What is collected of one load while a recorder listens.
///
/// What the app gets passes through ``LoadClient``; where it came from is told by the load's event. The two come in any
/// order, and when both are there the recorder hears of the exchange, once.
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

    /// Another request takes the place of the first: with credentials, or after a redirect.
    func isAnswering(_ request: URLRequest) {
        state.withLock { $0.exchange.request = request }
    }

    /// Foundation keeps the body to itself.
    func bodyIsUnseen() {
        state.withLock { $0.isUnseen = true }
    }

    /// A redirect is followed: an exchange of its own.
    func didRedirect(_ response: HTTPURLResponse, to next: URLRequest) {
        let begun = now()
        let told = state.withLock { state in
            var told = state.exchange
            told.response = response
            told.wait = state.elapsed
            told.duration = told.wait
            state.exchange = RecordedExchange(request: next, begun: begun)
            state.start = .now()
            return told
        }
        recorder.exchangeDidEnd(told)
    }

    // MARK: - What the app gets

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
                // Shared, not copied: most bodies come in one piece.
                state.exchange.body = data.prefix(room)
            } else {
                state.exchange.body?.append(data.prefix(room))
            }
        }
    }

    /// The load ended; `response` is the task's, for where nothing was said of it before.
    func didEnd(_ error: (any Error)? = nil, with response: URLResponse? = nil) {
        tell { state in
            if state.exchange.response == nil, let response = response as? HTTPURLResponse {
                state.exchange.response = response
                state.exchange.wait = state.elapsed
                // Foundation's loader announces no response to a load without a delegate, and its body came all the same.
                if !state.isUnseen, state.exchange.body == nil { state.exchange.body = Data() }
            }
            state.exchange.duration = state.elapsed
            state.exchange.error = error.map { ($0 as? URLError) ?? URLError(.unknown, failing: nil, "\($0)") }
            state.isDelivered = true
        }
    }

    // MARK: - Where it came from

    func isExplained(by event: LoadEvent.Kind) {
        switch event {
        case .served(let source, _, _):
            tell { state in
                state.exchange.source = source
                state.isExplained = true
            }
        case .failed, .blocked, .openedElsewhere: tell { $0.isExplained = true }
        case .cancelled: state.withLock { $0.isOver = true }
        default: break
        }
    }

    private func tell(_ change: (inout State) -> Void) {
        let told: RecordedExchange? = state.withLock { state in
            guard !state.isOver else { return nil }
            change(&state)
            guard state.isDelivered, state.isExplained else { return nil }
            state.isOver = true
            return state.exchange
        }
        if let told { recorder.exchangeDidEnd(told) }
    }
}
