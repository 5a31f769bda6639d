import WaystationFoundation
import WaystationHTTP

/// The course of a load from hop to hop: a state machine without side effects.
///
/// Verdicts and arrivals from the network are method calls, and the required action is returned as a value. It makes
/// sure that a hop is answered once, that a redirect or a refused token starts the next hop instead of being delivered,
/// and that nothing of an earlier hop arrives in a later one.
struct Course: Sendable {
    /// The reaction to an arrival.
    enum Action: Sendable {
        case ignore
        case deliverHead(ResponseHead)
        case deliverPart(Data)
        case answer(Answer)
        /// The redirect leads to `next`, if the client agrees; a target that is not HTTP can only be passed to another
        /// app.
        case redirect(ResponseHead, next: URLRequest, isHTTP: Bool)
        /// The client is asked for credentials.
        case challenge(URLProtectionSpace, ResponseHead, failures: Int)
        /// The token is renewed, and the request is sent again.
        case renew(token: String)
        /// The trip has failed before a response began. If a stored one may stand in for the hop with this number, it is
        /// the answer.
        case standIn(hop: Int, trip: Int, otherwise: any Error)
        case end((any Error)?)
    }

    /// A question to the network on behalf of the cache.
    struct Question: Sendable {
        let finding: CacheFinding
        var fetch: CacheDecision.Fetch
        /// Whether the next trip must be for this load alone.
        var isAlone = false
        /// Whether a first trip has failed.
        var isSecondAttempt = false
    }

    /// The way in which a load goes on when the result of a fetch is not shared with it.
    enum Repetition: Sendable {
        /// The same question is asked again, in this trip.
        case ask(trip: Int)
        /// The hop visits the stations again: another load may already have got the response, and stored it.
        case visit(Hop)
    }

    private enum Phase {
        /// The stations are visited, or the client is asked.
        case visiting
        /// The network was asked, and no response has begun.
        case asking
        /// The response is delivered as it arrives.
        case delivering(ResponseHead)
        /// The response is a redirect; its body is kept until the client has agreed to follow it.
        ///
        /// If the body is too long to be kept, only its beginning is.
        case redirected(ResponseHead, body: Data, isCut: Bool)
        /// The same, as a complete answer.
        case found(Answer)
        /// The response refuses this token, which is renewed when the body has ended.
        case refused(token: String, bytes: Int)
        case over
    }

    /// The number of bytes of a redirect's body that are kept for a client that may not follow it.
    static let keptRedirectBody = 1 << 20
    /// The number of bytes for which the renewal of a refused token waits, so that the connection can be used again.
    static let skippedBody = 1 << 20

    private var phase = Phase.visiting
    private(set) var hop: Hop
    private var redirects = 0
    private var failures: Int
    private var question: Question?
    /// Whether the hop was sent again with a renewed token.
    private var isRenewed = false
    /// The number of the trip to the network or to the stations; arrivals for an earlier trip are ignored.
    private(set) var trip = 0
    /// The number of the hop whose first trip through a fetch has failed.
    private var failedHop: Int?
    /// The number of the hop whose stored parts are of no use.
    private var wholeHop: Int?
    /// The number of the hop for which a stored response was given a time to stand in.
    private var timed: Int?
    /// The number of the hop for which that time is over.
    private var elapsed: Int?
    /// The status of the last response that was delivered, and the number of bytes that were delivered of it.
    private(set) var delivered = (status: 0, bytes: 0)

    /// Begins a course.
    ///
    /// - Parameters:
    ///   - hop: The first hop.
    ///   - failures: The number of times that its request was already refused for missing credentials.
    init(_ hop: Hop, failures: Int = 0) {
        self.hop = hop
        self.failures = failures
    }

    /// Whether a trip is the present one.
    func isUnderWay(_ trip: Int) -> Bool { trip == self.trip && !isOver }

    private var isOver: Bool { if case .over = phase { true } else { false } }

    /// Whether the present hop is asked through a fetch, which sets the `Cache-Status` of its response.
    var isFetched: Bool { question != nil }

    // MARK: - Hops and trips

    /// Takes a hop, or the same one again when its stations were visited further.
    ///
    /// - Parameters:
    ///   - hop: The hop.
    ///   - earlier: The trip that led to the visit; nil for the first one.
    /// - Returns: The number of the trip; nil when the course is over, or when another trip has begun meanwhile.
    mutating func visit(_ hop: Hop, after earlier: Int?) -> Int? {
        guard isUnderWay(earlier ?? trip) else { return nil }
        self.hop = hop
        phase = .visiting
        question = nil
        trip += 1
        return trip
    }

    /// The network is asked about the hop.
    ///
    /// - Parameter question: The question on behalf of the cache; nil when the cache takes no part.
    mutating func ask(_ question: Question?) {
        guard !isOver else { return }
        self.question = question
        self.question?.isSecondAttempt = failedHop == hop.number
        if wholeHop == hop.number { self.question?.fetch.completion = nil }
        phase = .asking
    }

    /// The question of a trip that is under way.
    func question(of trip: Int) -> Question? { isUnderWay(trip) ? question : nil }

    /// The question of a hop whose response from the network has not begun.
    func openQuestion(of number: Int) -> Question? {
        guard number == hop.number, case .asking = phase else { return nil }
        return question
    }

    /// Whether a stored response is to be given a time to stand in; true only once for each hop.
    mutating func beginsTiming() -> Bool {
        guard timed != hop.number else { return false }
        timed = hop.number
        return true
    }

    /// The time is over after which a stored response stands in for a hop's response from the network.
    ///
    /// It may pass while the hop visits the stations again.
    mutating func timeIsOver(for number: Int) { elapsed = number }

    /// Whether the time is over after which a stored response stands in.
    var isTimeOver: Bool { elapsed == hop.number }

    /// The result of a fetch is not shared with this load.
    ///
    /// - Returns: The way in which the load goes on; nil when the question is settled.
    mutating func askAgain(_ trip: Int, because reason: UnsharedReason) -> Repetition? {
        guard isUnderWay(trip), case .asking = phase, question != nil else { return nil }
        switch reason {
        case .response:
            question?.isAlone = true
            self.trip += 1
            return .ask(trip: self.trip)
        case .failure:
            failedHop = hop.number
            return .visit(hop)
        case .parts: return .visit(hop)
        case .representation:
            wholeHop = hop.number
            return .visit(hop)
        }
    }

    /// The client has agreed to a redirect.
    ///
    /// - Returns: The hop that led to the redirect; nil when the redirect is settled.
    mutating func follow(in trip: Int) -> Hop? {
        guard isUnderWay(trip) else { return nil }
        redirects += 1
        isRenewed = false
        return hop
    }

    /// The answer turned out to be unusable before any part of it was delivered: the stations are visited once more.
    mutating func restart() { phase = .visiting }

    /// The client has refused to follow a redirect, which becomes the answer.
    ///
    /// - Returns: The answer, or the head and the body that have arrived; nil when the course is over.
    mutating func refuseRedirect(
        in trip: Int
    ) -> (answer: Answer?, head: ResponseHead?, body: Data, isCut: Bool)? {
        guard isUnderWay(trip) else { return nil }
        switch phase {
        case .found(let answer):
            phase = .over
            return (answer, nil, Data(), false)
        case .redirected(let head, let body, let isCut):
            deliver(head)
            delivered.bytes = body.count
            return (nil, head, body, isCut)
        default: return nil
        }
    }

    /// The course is over; nothing more is delivered.
    ///
    /// - Returns: False when it was over before.
    mutating func end() -> Bool {
        guard !isOver else { return false }
        phase = .over
        question = nil
        return true
    }

    // MARK: - Arrivals

    /// A head has arrived.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - trip: The trip that it belongs to.
    ///   - token: The token of a login that a request carries.
    /// - Returns: The reaction.
    mutating func receive(
        _ head: ResponseHead,
        for trip: Int,
        token: (URLRequest) -> String?
    ) -> Action {
        guard isUnderWay(trip), case .asking = phase else { return .ignore }
        if let refused = refusedToken(head, token) {
            phase = .refused(token: refused, bytes: 0)
            return .ignore
        }
        guard RedirectPolicy.decision(for: head, to: hop.request, after: redirects) == .none else {
            phase = .redirected(head, body: Data(), isCut: false)
            return .ignore
        }
        deliver(head)
        return .deliverHead(head)
    }

    private mutating func deliver(_ head: ResponseHead) {
        phase = .delivering(head)
        delivered = (head.statusCode, 0)
    }

    /// A part of the body has arrived.
    mutating func receive(_ part: Data, for trip: Int) -> Action {
        guard isUnderWay(trip) else { return .ignore }
        switch phase {
        case .delivering:
            delivered.bytes += part.count
            return .deliverPart(part)
        case .redirected(let head, var body, _):
            guard body.count + part.count <= Self.keptRedirectBody else {
                // The rest is not waited for: it may have no end.
                self.trip += 1
                phase = .redirected(head, body: body, isCut: true)
                return redirect(head, RedirectPolicy.decision(for: head, to: hop.request, after: redirects))
            }
            // The state's reference to the body is released first, so that the bytes are not copied.
            phase = .asking
            body.append(part)
            phase = .redirected(head, body: body, isCut: false)
            return .ignore
        case .refused(let token, let bytes):
            guard bytes + part.count <= Self.skippedBody else {
                // The rest is not waited for: it may have no end.
                self.trip += 1
                return renew(token)
            }
            phase = .refused(token: token, bytes: bytes + part.count)
            return .ignore
        case .visiting, .asking, .found, .over: return .ignore
        }
    }

    /// A complete answer is available.
    mutating func receive(_ answer: Answer, for trip: Int, token: (URLRequest) -> String?) -> Action {
        guard isUnderWay(trip) else { return .ignore }
        switch phase {
        case .visiting, .asking: break
        // The network has answered first.
        case .delivering, .redirected, .found, .refused, .over: return .ignore
        }
        if let refused = refusedToken(answer.head, token) { return renew(refused) }
        // The late response of the trip is only for the cache.
        self.trip += 1
        question = nil
        switch RedirectPolicy.decision(for: answer.head, to: hop.request, after: redirects) {
        case .none:
            phase = .over
            return .answer(answer)
        case let decision:
            phase = .found(answer.renewed)
            return redirect(answer.head, decision)
        }
    }

    /// A stored response may answer a hop whose response from the network has not begun.
    mutating func standIn(_ answer: Answer, in number: Int, token: (URLRequest) -> String?) -> Action {
        guard openQuestion(of: number) != nil else { return .ignore }
        return receive(answer, for: trip, token: token)
    }

    /// The exchange has ended.
    mutating func receiveEnd(_ error: (any Error)?, for trip: Int) -> Action {
        guard isUnderWay(trip) else { return .ignore }
        switch phase {
        case .visiting, .found, .over: return .ignore
        case .refused(let token, _): return renew(token)
        case .asking:
            if let error, let question, (error as? URLError)?.code != .cancelled {
                return .standIn(hop: hop.number, trip: trip, otherwise: question.finding.explaining(error))
            }
            return fail(error ?? URLError.missingHead(of: hop.request.url), in: trip)
        case .redirected(let head, _, _):
            if let error { return .end(error) }
            return redirect(head, RedirectPolicy.decision(for: head, to: hop.request, after: redirects))
        case .delivering(let head):
            guard error == nil, let space = URLProtectionSpace.asked(by: head) else { return .end(error) }
            guard failures < RedirectPolicy.limit else { return .end(nil) }
            failures += 1
            isRenewed = false
            return .challenge(space, head, failures: failures - 1)
        }
    }

    /// A trip has failed, and no stored response stands in.
    ///
    /// - Returns: The end of the course; nothing if a stored response has answered the hop meanwhile, because its time was
    ///   over.
    mutating func fail(_ error: any Error, in trip: Int) -> Action {
        guard isUnderWay(trip), case .asking = phase else { return .ignore }
        // No stored response may stand in any more.
        phase = .visiting
        return .end(error)
    }

    private func redirect(_ head: ResponseHead, _ decision: RedirectDecision) -> Action {
        switch decision {
        case .none: .ignore
        case .tooMany: .end(RedirectPolicy.tooMany(hop.request))
        case .unsupported:
            RedirectPolicy.target(of: head, to: hop.request)
                .map { .redirect(head, next: URLRequest(url: $0), isHTTP: false) }
                ?? .end(RedirectPolicy.unsupported(nil, after: hop.request))
        case .follow(let next): .redirect(head, next: next, isHTTP: true)
        }
    }

    private mutating func renew(_ token: String) -> Action {
        phase = .visiting
        isRenewed = true
        return .renew(token: token)
    }

    /// The token that a response refuses, if it can be renewed and the request can be sent again.
    private func refusedToken(_ head: ResponseHead, _ token: (URLRequest) -> String?) -> String? {
        guard head.statusCode == 401, !isRenewed, hop.request.isRepeatable else { return nil }
        return token(hop.request)
    }
}

extension Answer {
    /// The same answer, which is already being renewed.
    fileprivate var renewed: Answer {
        var answer = self
        answer.renews = nil
        return answer
    }
}
