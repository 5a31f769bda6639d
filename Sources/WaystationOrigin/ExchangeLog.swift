import Foundation
import Synchronization

/// The requests that the server received, and the tasks that wait for more of them.
final class ExchangeLog: Sendable {
    struct State {
        var received = 0
        var requests: [ScriptedOrigin.Request] = []
        var abandoned: [ScriptedOrigin.Request] = []
        var webSocketFailures: [String] = []
        var isClosed = false
        fileprivate var waiters: [Waiter] = []
    }

    fileprivate struct Waiter {
        let condition: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private let isKeeping: Bool
    private let state = Mutex(State())

    /// - Parameter isKeeping: Whether requests are kept, not only counted.
    init(isKeeping: Bool) { self.isKeeping = isKeeping }

    var received: Int { state.withLock { $0.received } }

    var requests: [ScriptedOrigin.Request] { state.withLock { $0.requests } }

    var abandonedRequests: [ScriptedOrigin.Request] { state.withLock { $0.abandoned } }

    /// Records a request and gives it its place in the order.
    func record(_ head: RequestHead, body: ReceivedBody, connection: Int) -> ScriptedOrigin.Request {
        change { state in
            let request = ScriptedOrigin.Request(head, body: body, connection: connection, order: state.received)
            state.received += 1
            if isKeeping { state.requests.append(request) }
            return request
        }
    }

    func recordAbandoned(_ request: ScriptedOrigin.Request) {
        change { state in
            // When the server cuts its own connections, their clients have not abandoned them.
            if isKeeping, !state.isClosed { state.abandoned.append(request) }
        }
    }

    var webSocketFailures: [String] { state.withLock { $0.webSocketFailures } }

    /// Records that a web socket's client did not follow its script; a server that stops ends all scripts.
    func recordFailure(_ reason: String) {
        change { state in
            if !state.isClosed { state.webSocketFailures.append(reason) }
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
        // Resumed outside the lock, since a resumed task may call this log again at once.
        for waiter in ready { waiter.continuation.resume() }
        return result
    }
}

extension ScriptedOrigin.Request {
    init(_ head: RequestHead, body: ReceivedBody, connection: Int, order: Int) {
        self.init(
            order: order,
            connection: connection,
            method: head.method,
            target: head.target,
            version: head.version,
            fields: head.fields,
            body: body.data,
            bodyLength: body.length,
            bodyDigest: body.digest
        )
    }
}
