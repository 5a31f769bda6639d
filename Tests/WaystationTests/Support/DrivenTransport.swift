import Foundation
import FoundationNetworking
import Synchronization
import Waystation

/// A transport whose receivers a test calls itself, and which records the calls of its exchanges.
final class DrivenTransport: Transport {
    enum Call: Equatable { case pause, resume, cancel }

    private struct State {
        var receivers: [any TransportReceiver] = []
        var calls: [Call] = []
        var threads: [Thread] = []
    }

    let startsOnAnyQueue: Bool
    private let carries: @Sendable (URLRequest) -> Bool
    private let state = Mutex(State())

    init(startsOnAnyQueue: Bool = false, carries: @escaping @Sendable (URLRequest) -> Bool = { _ in true }) {
        self.startsOnAnyQueue = startsOnAnyQueue
        self.carries = carries
    }

    func canCarry(_ request: URLRequest) -> Bool { carries(request) }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        state.withLock {
            $0.receivers.append(receiver)
            $0.threads.append(.current)
        }
        return Exchange(transport: self)
    }

    /// The receivers of all requests so far.
    var receivers: [any TransportReceiver] { state.withLock(\.receivers) }

    /// The threads on which the requests were started.
    var threads: [Thread] { state.withLock(\.threads) }

    /// The calls of all exchanges so far.
    var calls: [Call] { state.withLock(\.calls) }

    private func note(_ call: Call) { state.withLock { $0.calls.append(call) } }

    private struct Exchange: TransportExchange {
        let transport: DrivenTransport

        func cancel() { transport.note(.cancel) }
        func pause() { transport.note(.pause) }
        func resume() { transport.note(.resume) }
    }
}
