import Dispatch
import WaystationFoundation
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
    private let begun = DispatchTime.now()

    init(_ environment: LoadEnvironment, _ stations: Stations, _ network: Network, _ request: URLRequest, rule: Int?) {
        self.environment = environment
        self.stations = stations
        self.network = network
        self.request = request
        self.rule = rule
        recording = environment.recorders.current.map { ExchangeRecording(request, $0, now: environment.now) }
    }

    /// The fetches on behalf of the cache; nil without a cache.
    var fetches: Fetches? { stations.sources.fetches }

    /// The cache; nil without one.
    var cache: CacheAccess? { fetches?.cache }

    /// Emits an event of this load, which the rule of its first request decided about.
    func emit(_ kind: LoadEvent.Kind) { emit(kind, decidedBy: rule) }

    /// Emits an event of this load.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - rule: The rule that decided about the load's last request.
    func emit(_ kind: LoadEvent.Kind, decidedBy rule: Int?) {
        recording?.isExplained(by: kind, decidedBy: rule)
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
        guard let response = resident.response(for: url) else {
            return Visit(visit.hop, .fail(.invalidHead(of: url)))
        }
        return Visit(visit.hop, .answer(Answer(response: response, body: .data(resident.body), source: .network)))
    }

    /// Renews an answer in the background if it is due.
    func renew(_ answer: Answer) {
        guard let plan = answer.renews else { return }
        fetches?.renew(plan, through: network)
    }
}

extension Answer {
    /// The event of a load that gets the answer.
    var event: LoadEvent.Kind { .served(from: source, status: response.statusCode, bytes: body.length) }
}

/// The values that the loads of an interceptor share beside their stations.
final class LoadEnvironment: Sendable {
    let events: EventBroadcaster
    /// The bytes that have arrived for the loads and wait for their tasks or for the cache's disk.
    let backlog: LoadBacklog
    let recorders: Recorders
    let now: @Sendable () -> Date
    /// Runs an action after a delay.
    let schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void

    init(
        events: EventBroadcaster,
        backlog: LoadBacklog,
        recorder: (any ExchangeRecorder)?,
        now: @escaping @Sendable () -> Date,
        schedule: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
    ) {
        self.events = events
        self.backlog = backlog
        recorders = Recorders(recorder)
        self.now = now
        self.schedule = schedule
    }
}
