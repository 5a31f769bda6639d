import Foundation
import Synchronization

/// What the server received, and who waits for it to receive more.
final class ExchangeLog: Sendable {
    struct State {
        var requests: [ScriptedOrigin.Request] = []
        var abandoned: [Int] = []
        var isClosed = false
        fileprivate var waiters: [Waiter] = []
    }

    fileprivate struct Waiter {
        let condition: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state = Mutex(State())

    var requests: [ScriptedOrigin.Request] { state.withLock { $0.requests } }

    var abandonedRequests: [ScriptedOrigin.Request] {
        state.withLock { state in state.abandoned.map { state.requests[$0] } }
    }

    /// Records a request, giving it its place in the order.
    func record(_ head: RequestHead, body: Data, connection: Int) -> ScriptedOrigin.Request {
        change { state in
            let request = ScriptedOrigin.Request(
                order: state.requests.count,
                connection: connection,
                method: head.method,
                target: head.target,
                version: head.version,
                fields: head.fields,
                body: body
            )
            state.requests.append(request)
            return request
        }
    }

    func recordAbandoned(_ request: ScriptedOrigin.Request) {
        change { state in
            // A server that cuts its own connections has not been abandoned.
            if !state.isClosed { state.abandoned.append(request.order) }
        }
    }

    func close() {
        change { $0.isClosed = true }
    }

    /// Waits until the condition holds, or the log is closed.
    func wait(until condition: @escaping @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let holds = state.withLock { state in
                if state.isClosed || condition(state) { return true }
                state.waiters.append(Waiter(condition: condition, continuation: continuation))
                return false
            }
            if holds { continuation.resume() }
        }
    }

    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, ready) = state.withLock { state in
            let result = body(&state)
            let now = state
            let ready = state.waiters.filter { now.isClosed || $0.condition(now) }
            state.waiters.removeAll { now.isClosed || $0.condition(now) }
            return (result, ready)
        }
        // Resumed outside the lock: what waits may come straight back here.
        for waiter in ready { waiter.continuation.resume() }
        return result
    }
}
