import Dispatch
package import WaystationFoundation
import WaystationStorage

/// The stations and the network of a load, and the load's events and recording.
struct LoadContext: Sendable {
    let environment: LoadEnvironment
    let stations: Stations
    let network: Network
    /// The load's first request.
    let request: URLRequest
    /// The rule that decided about the first request.
    let rule: Int?
    /// Nil unless a recorder is set.
    let recording: ExchangeRecording?
    /// Nil unless loads are traced.
    let span: LoadSpan?
    private let begun = DispatchTime.now()

    init(_ environment: LoadEnvironment, _ stations: Stations, _ network: Network, _ request: URLRequest, rule: Int?) {
        self.environment = environment
        self.stations = stations
        self.network = network
        self.request = request
        self.rule = rule
        span = environment.tracer?.begin(request, rule: rule)
        recording = environment.recorders.current.map { ExchangeRecording(request, $0, now: environment.now) }
    }

    /// The fetches on behalf of the cache; nil without a cache.
    var fetches: Fetches? { stations.sources.fetches }

    /// The cache; nil without one.
    var cache: CacheAccess? { fetches?.cache }

    /// Emits an event of this load, which the rule of its first request decided about.
    func emit(_ kind: LoadEvent.Kind) { emit(kind, decidedBy: rule) }

    /// Emits the event of a load that gets a whole answer at once.
    func emit(_ answer: Answer) {
        span?.take(answer.head)
        emit(answer.event)
    }

    /// Emits an event of this load.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - rule: The rule that decided about the load's last request.
    func emit(_ kind: LoadEvent.Kind, decidedBy rule: Int?) {
        recording?.isExplained(by: kind, decidedBy: rule)
        span?.take(kind)
        environment.events.emit(
            LoadEvent(
                kind: kind,
                url: request.url,
                method: request.httpMethod,
                rule: rule,
                duration: Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9
            )
        )
    }

    /// The same visit, or the visit with its answer if the transport of its rule has the response in memory.
    ///
    /// To that transport it counts as sending the request, so it is made when the load begins, and only once.
    func answering(_ visit: Visit) -> Visit {
        guard case .carry(let carrier, _) = visit.verdict, let transport = carrier as? any ResidentTransport,
            // An exchange stores the cookies of its response, and invalidates what it changes.
            network.cookies == nil, cache?.invalidation(after: visit.hop.request) == nil
        else { return visit }
        var request = visit.hop.request
        guard request.httpBodyStream == nil, let url = request.url else { return visit }
        if let canonical = url.canonical, canonical != url { request.url = canonical }
        guard let resident = transport.residentResponse(to: request) else { return visit }
        return Visit(
            visit.hop,
            .answer(Answer(head: resident.head(for: url), body: .data(resident.body), source: .network))
        )
    }

    /// Renews an answer in the background if it is due.
    func renew(_ answer: Answer) {
        guard var plan = answer.renews else { return }
        plan.span = span
        fetches?.renew(plan, through: network)
    }
}

extension Answer {
    /// The event of a load that gets the answer.
    var event: LoadEvent.Kind { .served(from: source, status: head.statusCode, bytes: body.length) }
}

/// The values that the loads of an interceptor share beside their stations.
final class LoadEnvironment: Sendable {
    let events: EventBroadcaster
    /// The bytes that have arrived for the loads and wait for their tasks or for the cache's disk.
    let backlog: LoadBacklog
    let recorders: Recorders
    /// Nil unless loads are traced.
    let tracer: LoadTracer?
    /// The file system of the files that downloads get.
    let files: any FileSystem
    let now: @Sendable () -> Date
    /// Runs an action after a delay.
    let schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void

    init(
        events: EventBroadcaster,
        backlog: LoadBacklog,
        recorder: (any ExchangeRecorder)?,
        tracer: LoadTracer? = nil,
        files: any FileSystem = LocalFileSystem(),
        now: @escaping @Sendable () -> Date,
        schedule: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
    ) {
        self.events = events
        self.backlog = backlog
        recorders = Recorders(recorder)
        self.tracer = tracer
        self.files = files
        self.now = now
        self.schedule = schedule
    }
}

/// The recipient of a load's response: a task of a `URLSession`, a connection of a server, a test.
///
/// The journey makes all calls of the members below ``perform(_:)`` within it, one at a time and in order.
package protocol JourneyClient: AnyObject, Sendable {
    /// Whether a redirect is followed only if ``follow(_:to:_:)`` agrees.
    ///
    /// It is read on any thread.
    var decidesAboutRedirects: Bool { get }

    /// Whether ``perform(_:)`` is certain to run its work.
    ///
    /// It never changes.
    var isReachable: Bool { get }

    /// Runs work on the client's queue; callable from any thread.
    ///
    /// Works run one at a time, in the order of the calls.
    func perform(_ work: @escaping @Sendable () -> Void)

    // MARK: - The response

    /// Whether the client takes heads as Foundation has them; a load then ends if Foundation makes none of a head.
    ///
    /// It never changes.
    var needsResponse: Bool { get }

    /// Takes the head; a second head replaces the first one, because a refused request was sent again.
    ///
    /// - Parameters:
    ///   - head: The head; if ``needsResponse`` is true, it was made of a response of Foundation's.
    ///   - decide: Called once, on any thread, if the client decides later; false ends the load as cancelled.
    /// - Returns: True to continue at once; false to wait for the decision.
    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (_ continues: Bool) -> Void) -> Bool

    /// Takes a part of the body.
    ///
    /// A client that is full then calls ``Journey/continueDelivery()`` of the journey when it is ready again.
    func take(_ part: Data, of journey: Journey)

    /// Whether the client takes a part of the body now; if not, it calls ``Journey/continueDelivery()`` later.
    var isReady: Bool { get }

    /// The number of bytes of a long body that the client passes on at once; nil if it keeps the body until its end.
    var pieceLength: Int? { get }

    /// Runs work when everything that the client has taken was passed on; the work may run on any thread.
    func whenPassedOn(_ work: @escaping @Sendable () -> Void)

    /// Takes the end of the load; complete when `error` is nil.
    func end(_ error: (any Error)?)

    /// A part of the request's body was sent; the counts are in bytes.
    func didSend(_ count: Int64, total: Int64, expected: Int64)

    // MARK: - Questions

    /// Asks whether to follow a redirect with `next`.
    ///
    /// - Parameters:
    ///   - response: The redirect.
    ///   - next: The request that would follow.
    ///   - answer: Called once, on any thread, with the request to send, or with nil to take the redirect itself as the
    ///     answer.
    func follow(
        _ response: HTTPURLResponse,
        to next: URLRequest,
        _ answer: @escaping @Sendable (URLRequest?) -> Void
    )

    /// Asks for the credentials that the server demands.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - completion: Called once, on any thread.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    )

    /// Runs the request in another way than through the journey, because there is nothing to store or to change.
    ///
    /// - Returns: False when the client has no other way: then the journey sends the request.
    func handBack() -> Bool
}
