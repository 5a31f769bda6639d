import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// A task's load through the transport: asks the task's delegate what Foundation would have asked it, brings
/// what arrives to the task, and to the archive.
final class NetworkLoad: ForwardedLoadOwner {
    private struct State {
        /// Whether a response, or what stands in for it, is on its way to the task already.
        var hasBegun = false
        /// The task was answered otherwise; what arrives is for the archive alone.
        var isDetached = false
        var status = 0
        var bytes = 0
        var isStored = false
    }

    private let load: Load
    private let forwarding: Forwarding
    private let context: LoadContext
    private let recorder: ArchiveRecorder?
    private let state = Mutex(State())

    /// Starts the load.
    static func start(_ load: Load, _ request: URLRequest, _ forwarding: Forwarding, _ context: LoadContext) {
        let owner = NetworkLoad(load, forwarding, context)
        let network = context.binding.network
        let forwarded = ForwardedLoad(
            request,
            through: { network.transport },
            credentials: network.credentials,
            failures: forwarding.failures,
            owner: owner
        )
        load.onCancel {
            forwarded.cancel()
            _ = owner.recorder?.end(isComplete: false)
            context.emit(.cancelled)
        }
        if let timeout = forwarding.timeout, forwarding.fallback != nil {
            context.engine.configuration.schedule(timeout) { [weak owner] in owner?.timeOut() }
        }
        // Making a task on the loading queue would kill the process.
        DispatchQueue.global().async { forwarded.start() }
    }

    private init(_ load: Load, _ forwarding: Forwarding, _ context: LoadContext) {
        self.load = load
        self.forwarding = forwarding
        self.context = context
        let engine = context.engine
        recorder = forwarding.archive.flatMap { entry in
            engine.cache.map { ArchiveRecorder(entry, in: $0.store, now: engine.configuration.now) }
        }
    }

    // MARK: - Asking the delegate

    func shouldFollow(
        _ response: HTTPURLResponse,
        _ next: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let delegate = load.task.delegate, !isDetached, let session = FoundationInternals.session(of: load.task)
        else {
            return answer(next)
        }
        let task = load.task
        // In line behind what was told before.
        load.deliver(
            .reached {
                session.delegateQueue.addOperation {
                    delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) {
                        answer($0)
                    }
                }
            }
        )
    }

    func answer(_ challenge: URLAuthenticationChallenge, _ completion: @escaping @Sendable (ChallengeAnswer) -> Void) {
        guard !isDetached else { return DelegateChallenge.ask(nil, challenge, completion) }
        let task = load.task
        // A delegate hears the refusal and its body first, as it does from Foundation.
        load.deliver(.reached { DelegateChallenge.ask(task, challenge, completion) })
    }

    // MARK: - Bringing what arrives

    func didReceive(head: HTTPURLResponse, to _: URLRequest) {
        let isStored = recorder?.begin(head) ?? false
        let isForTask = state.withLock { state in
            state.status = head.statusCode
            state.bytes = 0
            state.isStored = isStored
            state.hasBegun = state.hasBegun || !state.isDetached
            return !state.isDetached
        }
        guard isForTask else { return }
        let status = CacheStatus(.forwarded(forwarding.reason, status: head.statusCode, isStored: isStored))
        load.deliver(.response(head.adding(status)))
    }

    func didReceive(part: Data) {
        recorder?.append(part)
        let isForTask = state.withLock { state in
            state.bytes += part.count
            return !state.isDetached
        }
        if isForTask { load.deliver(.data(part)) }
    }

    func didSend(_ count: Int64, total: Int64, expected: Int64) {
        guard !isDetached else { return }
        load.deliverProgress(count, total: total, expected: expected)
    }

    func didEnd(_ error: (any Error)?) {
        if let stored = recorder?.end(isComplete: error == nil) { context.emit(.stored(bytes: stored)) }
        let (hasBegun, isDetached, status, bytes) = state.withLock { ($0.hasBegun, $0.isDetached, $0.status, $0.bytes) }
        guard !isDetached else { return }
        guard let error else {
            load.deliver(.end(nil))
            return context.emit(.served(from: .network, status: status, bytes: bytes))
        }
        if !hasBegun, let fallback = forwarding.fallback, (error as? URLError)?.code != .cancelled {
            return standIn(fallback)
        }
        load.deliver(.end(error))
        context.emit(.failed((error as? URLError) ?? URLError(.unknown, failing: nil, "\(error)", underlying: error)))
    }

    // MARK: - Falling back

    private var isDetached: Bool { state.withLock { $0.isDetached } }

    private func timeOut() {
        guard let fallback = forwarding.fallback, !load.hasEnded else { return }
        standIn(fallback)
    }

    /// Answers the task with what is stored; the network's answer, if one still comes, is only stored.
    private func standIn(_ fallback: Answer) {
        let isFirst = state.withLock { state in
            guard !state.hasBegun, !state.isDetached else { return false }
            state.isDetached = true
            return true
        }
        guard isFirst else { return }
        // The task's end is no longer the end of the traffic behind it.
        load.onCancel {}
        AnswerDelivery.deliver(fallback, to: load, context)
    }
}

extension HTTPURLResponse {
    /// The same response with one more member in its `Cache-Status`.
    fileprivate func adding(_ status: CacheStatus) -> HTTPURLResponse {
        guard let url, var fields = allHeaderFields as? [String: String] else { return self }
        fields[CacheStatus.fieldName] = status.appended(to: value(forHTTPHeaderField: CacheStatus.fieldName))
        return HTTPURLResponse(url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: fields) ?? self
    }
}
