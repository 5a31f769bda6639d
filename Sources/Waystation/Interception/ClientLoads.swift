import Synchronization
package import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The loads of an interceptor for clients that are not tasks of a `URLSession`, such as the connections of a gateway.
///
/// They pass the same stations as a task, and share its fetches, its cache and its cookies.
package final class ClientLoads: Sendable {
    /// The way on which a load has begun.
    package enum Begun: Sendable {
        /// The load has ended, and its event was emitted.
        case answered(AnsweredLoad)
        /// The client gets the response from the journey.
        case journey(Journey)
    }

    let interceptor: Interceptor
    private let network: Network
    private let stations: Stations

    /// Makes the loads of an interceptor.
    ///
    /// - Parameters:
    ///   - interceptor: The interceptor, which is kept.
    ///   - configuration: The configuration of the loads' requests, which is copied.
    package convenience init(_ interceptor: Interceptor, _ configuration: URLSessionConfiguration) {
        // Without a store of cookies, each client sends its own, and may be another user.
        self.init(interceptor, configuration, answersSeveralUsers: interceptor.cookies == nil)
    }

    /// Makes the loads of an interceptor.
    ///
    /// - Parameters:
    ///   - interceptor: The interceptor, which is kept.
    ///   - configuration: The configuration of the loads' requests, which is copied.
    ///   - answersSeveralUsers: Whether the loads are those of clients with credentials of their own.
    init(_ interceptor: Interceptor, _ configuration: URLSessionConfiguration, answersSeveralUsers: Bool) {
        self.interceptor = interceptor
        network = interceptor.makeNetwork(configuration)
        stations = interceptor.makeStations(network, answersSeveralUsers: answersSeveralUsers)
    }

    /// Takes over the cookies that a page has set or changed by itself.
    ///
    /// - Parameters:
    ///   - changes: The changes that a request of the page shows.
    ///   - url: The URL of the request.
    ///   - client: The name of the program that showed the page.
    package func take(_ changes: PageChanges, at url: URL, from client: String) {
        interceptor.cookies?.take(changes, at: url, from: client, login: interceptor.configuration.login?.id)
    }

    /// Whether a rule, or the app's handler of external links, takes a request.
    package func claims(_ request: URLRequest) -> Bool {
        stations.matcher.match(request) != nil || stations.isExternalLink(request)
    }

    /// Whether a rule takes a URL, or names its host and takes some URL of its origin, so that a client may show pages
    /// of this origin.
    ///
    /// Rules that block do not count: nothing of their URLs is shown. For the origin, methods, queries and predicates
    /// are not compared.
    ///
    /// - Complexity: O(number of rules).
    package func servesOrigin(of url: URL) -> Bool {
        if let match = stations.matcher.match(URLRequest(url: url)), !match.rule.isBlock { return true }
        return CanonicalURL(url.absoluteString).map(stations.matcher.rules.serve(originOf:)) ?? false
    }

    /// Whether a rule blocks every URL of a URL's origin.
    ///
    /// - Complexity: O(number of rules).
    package func blocksOrigin(of url: URL) -> Bool {
        guard interceptor.isEnabled, let url = CanonicalURL(url.absoluteString) else { return false }
        return stations.matcher.rules.block(originOf: url)
    }

    /// Begins a load.
    ///
    /// Call it on the client's queue.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - client: The recipient of the response, unless the load has ended with the call.
    ///   - sendsUnclaimed: Whether a request that no rule takes is sent to the network.
    /// - Returns: The way on which the load has begun; nil if no rule takes the request and it is not sent either.
    package func begin(
        _ request: URLRequest,
        for client: any JourneyClient,
        sendsUnclaimed: Bool
    ) -> Begun? {
        guard let visit = firstVisit(for: request, sendsUnclaimed: sendsUnclaimed) else { return nil }
        let context = context(of: visit)
        return answer(to: visit, context).map(Begun.answered) ?? .journey(journey(on: visit, context, for: client))
    }

    /// The values of a load that begins with a visit.
    func context(of visit: Visit) -> LoadContext {
        LoadContext(interceptor.environment, stations, network, visit.hop.request, rule: visit.hop.rule)
    }

    /// The answer of a visit, if it needs no journey.
    ///
    /// Its body is in memory then, and it is neither a redirect nor the refusal of a token. The load has ended, and its
    /// event was emitted. The context is not made unless there is an answer, because that begins a span.
    func answer(to visit: Visit, _ context: @autoclosure () -> LoadContext) -> AnsweredLoad? {
        guard case .answer(let answer) = visit.verdict, case .data(let body) = answer.body, visit.hop.ticket == nil,
            case let status = answer.head.statusCode, status != 401, !RedirectPolicy.statuses.contains(status),
            interceptor.environment.recorders.current == nil
        else { return nil }
        let context = context()
        context.emit(answer)
        context.renew(answer)
        return AnsweredLoad(visit.hop, answer, body)
    }

    /// Begins a journey.
    ///
    /// Call it on the client's queue.
    func journey(on visit: Visit, _ context: LoadContext, for client: any JourneyClient) -> Journey {
        let recorded = context.recording.map { RecordedClient(client, $0) }
        let journey = Journey(recorded ?? client, context)
        journey.start()
        journey.go(on: visit)
        return journey
    }

    /// Prepares a connection that the client opens by itself, such as that of a web socket.
    ///
    /// - Parameters:
    ///   - request: The request that opens the connection.
    ///   - sendsUnclaimed: Whether a request that no rule takes may be sent.
    ///   - close: Called when a log-out ends the connection: the client closes it, and then ends it.
    ///   - prepared: Called with the request to send, or with the reason why none must be sent. It is called once, on
    ///     any thread, unless the connection is ended before.
    /// - Returns: The connection, which the client must end; nil if no rule takes the request and it must not be sent.
    package func connect(
        _ request: URLRequest,
        sendsUnclaimed: Bool,
        close: @escaping @Sendable () -> Void,
        _ prepared: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) -> ClientConnection? {
        guard let visit = firstVisit(for: request, sendsUnclaimed: sendsUnclaimed) else { return nil }
        let connection = ClientConnection(cookies: interceptor.cookies, close: close)
        if let rule = visit.hop.match?.rule, interceptor.isEnabled, !rule.reachesNetwork {
            prepared(.failure(Self.refusal(of: request.url)))
        } else {
            connection.prepare(visit, prepared)
        }
        return connection
    }

    private static func refusal(of url: URL?) -> URLError {
        let message = "the rule for \(url?.shown ?? "the URL") does not lead to the network"
        return URLError(
            .resourceUnavailable,
            failing: url,
            message,
            underlying: WaystationError(.blocked, message)
        )
    }

    /// The engine that carries the requests of the loads.
    package var engine: any Transport { network.engine }

    /// The engine, if a request has needed one before.
    package var madeEngine: (any Transport)? { network.madeEngine }

    /// The verdict about the first request of a load; nil if no rule takes it and it is not sent either.
    ///
    /// The strategy is that of the cache in place of that of the rule; nil for the rule's own.
    func firstVisit(for request: URLRequest, sendsUnclaimed: Bool, by strategy: CacheStrategy? = nil) -> Visit? {
        let request = network.completing(request)
        if let links = stations.links, stations.isExternalLink(request) {
            return Visit(Hop(request), .open(links))
        }
        // Without the interceptor, a request that a rule takes would be sent to the network.
        guard interceptor.isEnabled else {
            return sendsUnclaimed || claims(request) ? Visit(Hop(request), .send) : nil
        }
        return stations.first(request, by: strategy) ?? (sendsUnclaimed ? Visit(Hop(request), .send) : nil)
    }

    /// Whether a request that comes again is decided about by the same rule.
    ///
    /// Predicates, and the app's handler of links, may decide otherwise each time.
    package var hasLastingRules: Bool { !stations.matcher.rules.hasPredicates && stations.links == nil }

    /// Loads a request once more that was answered at once, if the answer is still the same.
    ///
    /// The login, the cookies and the sources of its rule are asked each time; the rule itself, which depends on the
    /// request only, is not looked for again. Call it on the client's queue.
    ///
    /// - Parameter load: The load before, of the same request.
    /// - Returns: True if the load has ended with the same response, and its event was emitted. With false nothing has
    ///   happened, and the load is to begin as any other.
    package func repeats(_ load: AnsweredLoad) -> Bool {
        guard interceptor.isEnabled, load.hop.match != nil, hasLastingRules else { return false }
        let visit = stations.again(load.hop)
        guard case .answer(let answer) = visit.verdict, answer.head.identity === load.head.identity else {
            return false
        }
        return self.answer(to: visit, context(of: visit)) != nil
    }
}

/// The loads of a client in the same process, which is one user, as a session is.
extension ClientLoads {
    /// The verdict about the first request of a load.
    ///
    /// - Parameters:
    ///   - request: The request. If no rule takes it, it is sent to the network.
    ///   - strategy: The strategy of the cache in place of that of the rule; nil for the rule's own.
    /// - Returns: The verdict, after a look-up that need not wait for a disk.
    func visit(for request: URLRequest, by strategy: CacheStrategy?) -> Visit {
        let request = network.cookieField.adding(to: request)
        let visit = firstVisit(for: request, sendsUnclaimed: true, by: strategy)
        return lookingUp(visit ?? Visit(Hop(request), .send))
    }

    /// The same; nil if no rule takes the request.
    func claimedVisit(for request: URLRequest) -> Visit? {
        firstVisit(for: network.cookieField.adding(to: request), sendsUnclaimed: false).map(lookingUp)
    }

    /// The verdict about a request that comes again, whose hop is known; nil if the hop is not to be used.
    func visit(again hop: Hop) -> Visit? {
        guard interceptor.isEnabled, hasLastingRules, hasLastingCookies else { return nil }
        return lookingUp(stations.again(hop))
    }

    /// Whether the cookies of a request do not depend on a storage of Foundation's, which does not tell its changes.
    var hasLastingCookies: Bool { network.cookieField.isEmpty }

    /// The same visit, with the verdict of its look-up if that need not wait for a disk.
    private func lookingUp(_ visit: Visit) -> Visit {
        guard case .lookUp(let lookUp) = visit.verdict, !lookUp.isForeign, let verdict = lookUp.inMemory(true) else {
            return visit
        }
        return Visit(visit.hop, verdict)
    }
}

/// A client that is not a task, and a recording of what it gets.
///
/// Tasks have a ``LoadClient``, which does the same for them.
final class RecordedClient: JourneyClient {
    private let client: any JourneyClient
    private let recording: ExchangeRecording

    init(_ client: any JourneyClient, _ recording: ExchangeRecording) {
        self.client = client
        self.recording = recording
    }

    var needsResponse: Bool { true }

    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (_ continues: Bool) -> Void) -> Bool {
        if let response = head.response { recording.didReceive(response) }
        return client.take(head, decide)
    }

    func take(_ part: Data, of journey: Journey) {
        recording.didLoad(part)
        client.take(part, of: journey)
    }

    func end(_ error: (any Error)?) {
        // The recorder is called first: when the client gets the end, the load has been recorded.
        recording.didEnd(error)
        client.end(error)
    }

    // MARK: - Passed on unchanged

    var decidesAboutRedirects: Bool { client.decidesAboutRedirects }
    var isReachable: Bool { client.isReachable }
    var isReady: Bool { client.isReady }
    var pieceLength: Int? { client.pieceLength }

    func perform(_ work: @escaping @Sendable () -> Void) { client.perform(work) }

    func whenPassedOn(_ work: @escaping @Sendable () -> Void) { client.whenPassedOn(work) }

    func didSend(_ count: Int64, total: Int64, expected: Int64) {
        client.didSend(count, total: total, expected: expected)
    }

    func follow(
        _ response: HTTPURLResponse,
        to next: URLRequest,
        _ answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        client.follow(response, to: next, answer)
    }

    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        client.answer(challenge, completion)
    }

    func handBack() -> Bool { client.handBack() }
}

/// A load that has ended at once with a whole response.
package struct AnsweredLoad: Sendable {
    /// The request with the rule that took it.
    let hop: Hop
    /// The head; a source that answers with the same head again means the same body, too.
    package let head: ResponseHead
    package let body: Data
    let source: LoadEvent.Source

    /// Whether the sources may be asked for the same answer again; not if it is that of a source of the app's own.
    package let mayBeRepeated: Bool

    init(_ hop: Hop, _ answer: Answer, _ body: Data) {
        (self.hop, head, source, self.body) = (hop, answer.head, answer.source, body)
        mayBeRepeated = !answer.isForeign
    }
}

/// A connection to an origin that a client opens by itself, such as that of a web socket (RFC 6455).
///
/// The rules decide whether its request may be sent, the login and the cookie store complete the request, and a log-out
/// ends the connection. Files, packs and stored responses are not used. Its members may be called from any thread.
package final class ClientConnection: Sendable {
    private struct State {
        /// Ends the wait for a login.
        var stop: (@Sendable () -> Void)?
        var hasEnded = false
    }

    private let cookies: CookieStore?
    private let close: @Sendable () -> Void
    /// The place among the connections and loads of a login.
    private let place = LoginPlace()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - cookies: The interceptor's cookies.
    ///   - close: Called when a log-out ends the connection: the client closes it, and then calls ``end()``.
    init(cookies: CookieStore?, close: @escaping @Sendable () -> Void) {
        self.cookies = cookies
        self.close = close
    }

    /// Carries out the verdict of the stations about the request.
    ///
    /// - Parameters:
    ///   - visit: The verdict, in which the choice of a source does not matter.
    ///   - prepared: Called with the request to send, or with the reason why none must be sent. It is called once, on
    ///     any thread, unless the connection is ended before.
    func prepare(
        _ visit: Visit,
        _ prepared: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        switch visit.verdict {
        case .wait(let wait):
            let stop = wait.begin { self.prepare($0, prepared) }
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.stop = stop }
                return state.hasEnded
            }
            if hasEnded { stop() }
        case .fail(let error): prepared(.failure(error))
        case .open: prepared(.failure(ExternalLinks.opened(visit.hop.request.url)))
        case .declined, .answer, .fetch, .send, .carry, .handBack, .spool, .lookUp:
            guard let ticket = visit.hop.ticket else { return prepared(.success(visit.hop.request)) }
            guard enter(ticket) else { return prepared(.failure(URLError.loggedOut(visit.hop.request.url))) }
            prepared(.success(visit.hop.request))
        }
    }

    private func enter(_ ticket: LoginTicket) -> Bool {
        place.enter(ticket) { [weak self] place in
            guard let self else {
                place.leave()
                return false
            }
            close()
            return true
        }
    }

    /// Sends the request, unless a log-out has removed a cookie of it.
    ///
    /// - Parameters:
    ///   - request: The request that was prepared.
    ///   - write: Passes the request to the network.
    /// - Returns: Takes over the cookies of the response's head; nil if the request was not sent.
    package func send(_ request: URLRequest, _ write: () -> Void) -> (@Sendable (ResponseHead) -> Void)? {
        guard let cookies else {
            write()
            return { _ in }
        }
        let moment = cookies.moment()
        guard cookies.sending(request, write) != nil else { return nil }
        return { cookies.take($0, to: request, sent: moment) }
    }

    /// The connection was closed, or is no longer wanted.
    package func end() {
        let stop = state.withLock { state in
            state.hasEnded = true
            return state.stop.take()
        }
        stop?()
        place.leave()
    }
}
