import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import WaystationCaching

/// A task's load through the transport and the cache.
///
/// It asks the task's delegate the questions that Foundation would have asked, and delivers the response to the task.
final class NetworkLoad: ForwardedLoadOwner {
    private struct State {
        var status = 0
        var bytes = 0
    }

    private let load: Load
    private let hops: HopTransport
    private let first: LoadContext
    private let state = Mutex(State())

    /// Starts the load.
    static func start(_ load: Load, _ request: URLRequest, _ forwarding: Forwarding, _ context: LoadContext) {
        let network = context.binding.network
        let hops = HopTransport(
            rule: context.rule,
            first: forwarding.cache.map { .found($0) } ?? .network,
            engine: context.engine,
            network: network
        )
        let owner = NetworkLoad(load, hops, context)
        let transport: any Transport =
            if let cookies = network.cookies {
                IdentifyingTransport({ hops }, cookies, of: context.engine) { load.enter($0) }
            } else {
                hops
            }
        let forwarded = ForwardedLoad(
            request,
            through: { transport },
            credentials: network.credentials,
            links: context.engine.configuration.externalLinks,
            failures: forwarding.failures,
            owner: owner
        )
        load.onCancel {
            forwarded.cancel()
            context.emit(.cancelled)
        }
        // Making a task on the loading queue would kill the process.
        DispatchQueue.global().async { forwarded.start() }
    }

    private init(_ load: Load, _ hops: HopTransport, _ context: LoadContext) {
        self.load = load
        self.hops = hops
        first = context
    }

    /// With the rule of the last request.
    private var context: LoadContext { first.decided(by: hops.rule) }

    // MARK: - Asking the delegate

    func shouldFollow(
        _ response: HTTPURLResponse,
        _ next: URLRequest,
        answer decide: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let recording = context.recording
        let answer: @Sendable (URLRequest?) -> Void = { followed in
            if let followed { recording?.didRedirect(response, to: followed) }
            decide(followed)
        }
        guard let delegate = load.task.delegate, let session = FoundationInternals.session(of: load.task)
        else {
            return answer(next)
        }
        let task = load.task
        // Delivered in order, after all earlier items.
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
        let task = load.task
        // The delegate gets the refusal and its body before the challenge, as it does from Foundation.
        load.deliver(.reached { DelegateChallenge.ask(task, challenge, completion) })
    }

    // MARK: - Delivering the response

    func didReceive(head: HTTPURLResponse, to request: URLRequest) {
        context.recording?.isAnswering(request)
        state.withLock { state in
            state.status = head.statusCode
            state.bytes = 0
        }
        load.deliver(
            .response(hops.isCached ? head : head.adding(CacheStatus(.forwarded(.bypass, status: head.statusCode))))
        )
    }

    func didReceive(part: Data) {
        state.withLock { $0.bytes += part.count }
        load.deliver(.data(part))
    }

    func didFind(_ answer: Answer) {
        // The traffic behind the load must no longer end with the task.
        load.onCancel {}
        AnswerDelivery.deliver(answer, to: load, context)
    }

    func didSend(_ count: Int64, total: Int64, expected: Int64) {
        load.deliverProgress(count, total: total, expected: expected)
    }

    func didEnd(_ error: (any Error)?) {
        if let link = (error as? URLError)?.openedLink {
            context.emit(.openedElsewhere(link))
        } else if let error = error as? URLError, error.isBlocked {
            context.emit(.blocked)
        } else if let error {
            context.emit(
                .failed((error as? URLError) ?? URLError(.unknown, failing: nil, "\(error)", underlying: error))
            )
        } else {
            let (status, bytes) = state.withLock { ($0.status, $0.bytes) }
            context.emit(.served(from: .network, status: status, bytes: bytes))
        }
        load.deliver(.end(error))
    }
}

extension HTTPURLResponse {
    /// The same response with one more member in its `Cache-Status`.
    func adding(_ status: CacheStatus) -> HTTPURLResponse {
        guard let url, var fields = allHeaderFields as? [String: String] else { return self }
        let earlier = value(forHTTPHeaderField: CacheStatus.field).map { $0.isEmpty ? "" : $0 + ", " } ?? ""
        fields[CacheStatus.field] = earlier + status.fieldValue
        return HTTPURLResponse(url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: fields) ?? self
    }
}
