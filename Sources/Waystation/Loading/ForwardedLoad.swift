import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// The owner of a forwarded load, which answers its questions and gets its events.
///
/// Calls are made one at a time and in order. ``didReceive(head:)`` is called again when a refused request is sent
/// again with credentials: the earlier head and parts then belong to the refusal.
protocol ForwardedLoadOwner: Sendable {
    /// Asks whether to follow a redirect with `next`; the answer is the request to send, or nil to take the redirect
    /// itself as the answer.
    func shouldFollow(
        _ response: HTTPURLResponse,
        _ next: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    )
    /// Asks for the credentials that the server demands.
    func answer(_ challenge: URLAuthenticationChallenge, _ completion: @escaping @Sendable (ChallengeAnswer) -> Void)
    /// The head of the delivered response arrived; `request` is the request that it answers, after redirects.
    func didReceive(head: HTTPURLResponse, to request: URLRequest)
    /// A part of its body arrived.
    func didReceive(part: Data)
    /// A complete answer was available; it replaces a head, parts and an end.
    func didFind(_ answer: Answer)
    /// A part of the request's body was sent.
    func didSend(_ count: Int64, total: Int64, expected: Int64)
    /// The load ended, complete when `error` is nil.
    func didEnd(_ error: (any Error)?)
}

/// One request that is sent through a transport: exchanges, redirects, challenges, one answer.
final class ForwardedLoad: AnswerReceiver {
    private struct State {
        var request: URLRequest
        var exchange: (any TransportExchange)?
        /// The number of exchanges that were started: one may end, and the next begin, before `exchange` is set.
        var started = 0
        var redirects = 0
        var failures = 0
        var head: HTTPURLResponse?
        /// The body of a redirect, kept until it is known whether the redirect is followed.
        var redirectBody = Data()
        var hasEnded = false
        var isCancelled = false

        /// Returns false when the load was already over.
        mutating func end() -> Bool {
            guard !hasEnded else { return false }
            hasEnded = true
            exchange = nil
            return true
        }
    }

    /// Made when the load starts, because a session must not be made on the loading queue either.
    private let transport: @Sendable () -> any Transport
    private let owner: any ForwardedLoadOwner
    private let credentials: URLCredentialStorage?
    private let links: ExternalLinks?
    private let state: Mutex<State>

    /// Makes a load that sends `request`, tagged, when it is started.
    init(
        _ request: URLRequest,
        through transport: @escaping @Sendable () -> any Transport,
        credentials: URLCredentialStorage?,
        links: ExternalLinks? = nil,
        failures: Int = 0,
        owner: any ForwardedLoadOwner
    ) {
        self.transport = transport
        self.owner = owner
        self.credentials = credentials
        self.links = links
        state = Mutex(State(request: request, failures: failures))
    }

    /// Sends the request.
    ///
    /// Call it once.
    func start() {
        let (request, number): (URLRequest?, Int) = state.withLock { state in
            state.head = nil
            state.redirectBody = Data()
            state.started += 1
            return (state.hasEnded ? nil : state.request, state.started)
        }
        guard let request else { return }
        let exchange = transport().start(ForwardingTag.tagging(request), receiver: self)
        let isTooLate = state.withLock { state in
            // The exchange holds this load as its receiver, so it is not kept after the end.
            if state.started == number, !state.hasEnded { state.exchange = exchange }
            return state.hasEnded && state.isCancelled
        }
        if isTooLate { exchange.cancel() }
    }

    /// Stops the traffic; the owner gets no more calls.
    func cancel() {
        let exchange: (any TransportExchange)? = state.withLock { state in
            let exchange = state.exchange
            state.isCancelled = state.end()
            return exchange
        }
        exchange?.cancel()
    }

    /// Passes the head on, unless it is a redirect that may be followed.
    func transportDidReceive(_ head: HTTPURLResponse) {
        let request: URLRequest? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.head = head
            let decision = RedirectPolicy.decision(for: head, to: state.request, after: state.redirects)
            return decision == .none ? state.request : nil
        }
        if let request { owner.didReceive(head: head, to: request) }
    }

    /// Passes a part of the body on, or keeps it until it is known whether its redirect is followed.
    func transportDidReceive(_ part: Data) {
        let isForOwner = state.withLock { state in
            guard !state.hasEnded, let head = state.head else { return false }
            if RedirectPolicy.decision(for: head, to: state.request, after: state.redirects) == .none { return true }
            state.redirectBody.append(part)
            return false
        }
        if isForOwner { owner.didReceive(part: part) }
    }

    /// Passes the progress of the request's body on.
    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        guard !state.withLock({ $0.hasEnded }) else { return }
        owner.didSend(count, total: total, expected: expected)
    }

    /// Passes a complete answer on, unless it is a redirect that may be followed.
    func transportDidAnswer(_ answer: Answer) {
        let (request, redirects) = state.withLock { ($0.request, $0.redirects) }
        guard RedirectPolicy.decision(for: answer.response, to: request, after: redirects) == .none else {
            transportDidReceive(answer.response)
            do {
                transportDidReceive(try answer.body.contents)
            } catch {
                return transportDidEnd(error)
            }
            return transportDidEnd(nil)
        }
        if state.withLock({ $0.end() }) { owner.didFind(answer) }
    }

    /// Ends the load, or continues with the next exchange.
    func transportDidEnd(_ error: (any Error)?) {
        let (isEnded, head, request, redirects) = state.withLock { ($0.hasEnded, $0.head, $0.request, $0.redirects) }
        guard !isEnded else { return }
        if let error { return end(error) }
        guard let head else { return end(URLError(.badServerResponse)) }
        switch RedirectPolicy.decision(for: head, to: request, after: redirects) {
        case .none:
            guard let space = URLProtectionSpace.asked(by: head) else { return end(nil) }
            challenge(space, head)
        case .tooMany:
            end(URLError(.httpTooManyRedirects, failing: request.url))
        case .unsupported:
            if let target = RedirectPolicy.target(of: head, to: request), open(URLRequest(url: target)) { return }
            end(URLError(.unsupportedURL, failing: request.url))
        case .follow(let next):
            if open(next) { return }
            owner.shouldFollow(head, next) { self.redirect($0, refused: head) }
        }
    }

    private func redirect(_ next: URLRequest?, refused head: HTTPURLResponse) {
        guard let next else {
            let (request, body) = state.withLock { ($0.request, $0.redirectBody) }
            owner.didReceive(head: head, to: request)
            if !body.isEmpty { owner.didReceive(part: body) }
            return end(nil)
        }
        // The delegate may have chosen another target.
        if open(next) { return }
        state.withLock { state in
            state.request = next
            state.redirects += 1
        }
        start()
    }

    /// Ends the load by passing a redirect's target to the app's handler, if the target belongs to another app.
    ///
    /// Returns false when it does not.
    private func open(_ next: URLRequest) -> Bool {
        guard let links, links.contain(next.url) else { return false }
        guard state.withLock({ $0.end() }) else { return true }
        // The handler is the app's code, which must not block the transport's queue.
        DispatchQueue.global().async { [owner] in
            links.handler(next)
            owner.didEnd(ExternalLinks.opened(next.url))
        }
        return true
    }

    private func challenge(_ space: URLProtectionSpace, _ head: HTTPURLResponse) {
        let failures = state.withLock { state in
            state.failures += 1
            return state.failures - 1
        }
        guard failures < RedirectPolicy.limit else { return end(nil) }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space,
            // A stored credential that was refused once is not proposed again.
            proposedCredential: failures == 0 ? credentials?.defaultCredential(for: space) : nil,
            previousFailureCount: failures,
            failureResponse: head,
            error: nil,
            sender: ChallengeSender()
        )
        owner.answer(challenge) { answer in
            switch answer {
            case .complete: self.end(nil)
            case .cancel: self.end(URLError(.cancelled, failing: head.url))
            case .retry(let authorization, let credential):
                if credential.persistence != .none { self.credentials?.set(credential, for: space) }
                self.state.withLock { $0.request.setValue(authorization, forHTTPHeaderField: "Authorization") }
                self.start()
            }
        }
    }

    private func end(_ error: (any Error)?) {
        if state.withLock({ $0.end() }) { owner.didEnd(error) }
    }
}

extension URLError {
    /// Makes an error that names the URL in the same way as Foundation's own errors.
    init(_ code: Code, failing url: URL?, _ message: String? = nil, underlying: (any Error)? = nil) {
        var info: [String: Any] = [:]
        if let url {
            info[NSURLErrorFailingURLErrorKey] = url
        }
        if let message { info[NSLocalizedDescriptionKey] = message }
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        self.init(_nsError: NSError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: info))
    }
}
