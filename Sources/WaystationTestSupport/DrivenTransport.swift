import Synchronization
package import Waystation
package import WaystationFoundation

/// A transport whose receivers a test calls itself, and which records the calls of its exchanges.
package final class DrivenTransport: Transport {
    package enum Call: Equatable { case pause, resume, cancel }

    private struct State {
        var receivers: [any TransportReceiver] = []
        var calls: [Call] = []
        var threads: [Thread] = []
    }

    package let startsOnAnyQueue: Bool
    private let carries: @Sendable (URLRequest) -> Bool
    private let onStart: @Sendable (_ number: Int, any TransportReceiver) -> Void
    private let state = Mutex(State())

    /// Makes the transport.
    ///
    /// - Parameters:
    ///   - startsOnAnyQueue: Whether it may be started on any queue.
    ///   - carries: Whether it can carry a request.
    ///   - onStart: Called within the start of each exchange, whose number is counted from 1.
    package init(
        startsOnAnyQueue: Bool = false,
        carries: @escaping @Sendable (URLRequest) -> Bool = { _ in true },
        onStart: @escaping @Sendable (_ number: Int, any TransportReceiver) -> Void = { _, _ in }
    ) {
        self.startsOnAnyQueue = startsOnAnyQueue
        self.carries = carries
        self.onStart = onStart
    }

    package func canCarry(_ request: URLRequest) -> Bool { carries(request) }

    package func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let number = state.withLock {
            $0.receivers.append(receiver)
            $0.threads.append(.current)
            return $0.receivers.count
        }
        onStart(number, receiver)
        return Exchange(transport: self)
    }

    /// The number of requests so far.
    package var count: Int { state.withLock(\.receivers.count) }

    /// Waits for the request with this number, counted from 1.
    ///
    /// A load that waits for a response may have sent no request yet, so a test gets a receiver only in this way.
    package func receiver(_ number: Int) async throws -> any TransportReceiver {
        guard await eventually({ count >= number }) else { throw URLError(.timedOut) }
        return state.withLock { $0.receivers[number - 1] }
    }

    /// The threads on which the requests were started.
    package var threads: [Thread] { state.withLock(\.threads) }

    /// The calls of all exchanges so far.
    package var calls: [Call] { state.withLock(\.calls) }

    private func note(_ call: Call) { state.withLock { $0.calls.append(call) } }

    private struct Exchange: TransportExchange {
        let transport: DrivenTransport

        func cancel() { transport.note(.cancel) }
        func pause() { transport.note(.pause) }
        func resume() { transport.note(.resume) }
    }
}
