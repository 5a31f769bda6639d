import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// The network of one load with the app's cookies and login.
///
/// Each exchange, including those after redirects, carries the cookies that were chosen for it. If it belongs to the
/// login, it gets a place among the login's loads, and is sent once more with a new token when its token is refused.
///
/// It is above the cache, because the cache must know the cookies.
final class IdentifyingTransport: Transport {
    /// Made at its first use, because a session must not be made on the loading queue.
    fileprivate let transport: @Sendable () -> any Transport
    fileprivate let cookies: SessionCookies
    fileprivate let engine: Engine
    /// Gives the load its place among the login's loads; returns false when the user has logged out since.
    fileprivate let enter: @Sendable (LoginTicket) -> Bool
    /// Whether the next request is the first one, which was prepared before its sources were asked.
    private let isPrepared = Atomic(true)

    init(
        _ transport: @escaping @Sendable () -> any Transport,
        _ cookies: SessionCookies,
        of engine: Engine,
        enter: @escaping @Sendable (LoginTicket) -> Bool
    ) {
        self.transport = transport
        self.cookies = cookies
        self.engine = engine
        self.enter = enter
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let exchange = IdentifiedExchange(self, request, receiver)
        exchange.begin(isPrepared: isPrepared.exchange(false, ordering: .relaxed))
        return exchange
    }
}

private final class IdentifiedExchange: TransportExchange, AnswerReceiver {
    private struct State {
        var exchange: (any TransportExchange)?
        /// The number of requests sent: one exchange may end, and the next begin, before `state.exchange` is set.
        var sent = 0
        var waiting: LoginSession.Waiting?
        /// The request as it was sent, with its cookies.
        var request: URLRequest?
        /// The token that the server has refused.
        var refused: String?
        var isRepeated = false
        var isOver = false
        var isCancelled = false
    }

    private let transport: IdentifyingTransport
    private let request: URLRequest
    private let receiver: any TransportReceiver
    private let state = Mutex(State())
    private var login: LoginSession? { transport.engine.configuration.login }

    init(_ transport: IdentifyingTransport, _ request: URLRequest, _ receiver: any TransportReceiver) {
        self.transport = transport
        self.request = request
        self.receiver = receiver
    }

    /// Sends the request.
    ///
    /// If a redirect leads to a URL that needs a login, it waits for the login first.
    func begin(isPrepared: Bool) {
        // For the first request, the cookies were chosen and the load got its place before its sources were asked.
        guard !isPrepared else { return begin(request) }
        guard let login, let match = transport.engine.match(request),
            let requirement = match.step.requirement, requirement.isMet(by: request, match.canonical)
        else { return send(request) }
        guard login.covers(request.url) else { return end(login.outOfDomain(request.url)) }
        wait(for: login, refused: nil) { self.send(self.request) }
    }

    private func wait(for login: LoginSession, refused: String?, _ goOn: @escaping @Sendable () -> Void) {
        let waiting = login.wait(refused: refused, url: request.url) { result in
            self.state.withLock { $0.waiting = nil }
            switch result {
            case .success: goOn()
            case .failure(let error): self.end(error)
            }
        }
        let isCancelled = state.withLock { state in
            // The wait may be over already, and an exchange may have begun.
            if state.exchange == nil, !state.isOver { state.waiting = waiting }
            return state.isCancelled
        }
        if isCancelled { waiting?.stop() }
    }

    private func send(_ request: URLRequest) {
        let ticket = login.map { LoginTicket($0) }
        let request = transport.cookies.choosing(for: request)
        if let ticket, ticket.login.covers(request), !transport.enter(ticket) {
            return end(.loggedOut(request.url))
        }
        begin(request)
    }

    private func begin(_ request: URLRequest) {
        let number: Int? = state.withLock { state in
            guard !state.isOver else { return nil }
            state.request = request
            state.refused = nil
            state.sent += 1
            return state.sent
        }
        guard let number else { return }
        let exchange = transport.transport().start(request, receiver: self)
        let isTooLate = state.withLock { state in
            // The exchange holds this object as its receiver, so it is not kept after the end.
            if state.sent == number, !state.isOver { state.exchange = exchange }
            return state.isCancelled
        }
        if isTooLate { exchange.cancel() }
    }

    func cancel() {
        let (exchange, waiting): ((any TransportExchange)?, LoginSession.Waiting?) = state.withLock { state in
            state.isOver = true
            state.isCancelled = true
            return (state.exchange.take(), state.waiting.take())
        }
        exchange?.cancel()
        waiting?.stop()
    }

    private func end(_ error: URLError) {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        // The caller must not get the end of an exchange before `start` has returned the exchange.
        if isFirst { DispatchQueue.global().async { self.receiver.transportDidEnd(error) } }
    }

    // MARK: - Events of the exchange

    /// Whether a response refuses a token that may be renewed.
    ///
    /// If so, the token is recorded.
    private func isRefusal(_ head: HTTPURLResponse) -> Bool {
        guard head.statusCode == 401, let login, request.isRepeatable,
            let token = state.withLock({ $0.isRepeated ? nil : $0.request }).flatMap(login.token(of:))
        else { return false }
        state.withLock { $0.refused = token }
        return true
    }

    private var isRefused: Bool { state.withLock { $0.refused != nil } }

    func transportDidReceive(_ head: HTTPURLResponse) {
        if !isRefusal(head) { receiver.transportDidReceive(head) }
    }

    func transportDidReceive(_ part: Data) {
        if !isRefused { receiver.transportDidReceive(part) }
    }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        receiver.transportDidSend(count, total: total, expected: expected)
    }

    func transportDidAnswer(_ answer: Answer) {
        guard !isRefusal(answer.response) else { return renew() }
        state.withLock { $0.isOver = true }
        if let receiver = receiver as? any AnswerReceiver { return receiver.transportDidAnswer(answer) }
        receiver.transportDidReceive(answer.response)
        do {
            receiver.transportDidReceive(try answer.body.contents)
            receiver.transportDidEnd(nil)
        } catch {
            receiver.transportDidEnd(error)
        }
    }

    func transportDidEnd(_ error: (any Error)?) {
        guard !isRefused else { return renew() }
        state.withLock { state in
            state.isOver = true
            state.exchange = nil
        }
        receiver.transportDidEnd(error)
    }

    /// Renews the refused token, once for all requests that were refused with it, and sends the request again, once.
    private func renew() {
        let refused = state.withLock { state in
            state.exchange = nil
            state.isRepeated = true
            return state.isOver ? nil : state.refused
        }
        guard let refused, let login else { return }
        wait(for: login, refused: refused) { [request] in
            var request = request
            // The refusal may have been stored, so the stored response must be ignored.
            request.cachePolicy = .reloadIgnoringLocalCacheData
            self.send(request)
        }
    }
}
