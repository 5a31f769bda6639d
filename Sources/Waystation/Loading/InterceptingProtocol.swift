import Synchronization
import WaystationFoundation

/// The protocol class that comes first in an intercepted configuration.
///
/// `Depth` makes the class of each binding a different type and has no other meaning.
///
/// Foundation calls it on one serial queue that all sessions of the process share. So nothing here may block, and
/// nothing may make or resume a task, which would wait for this very queue.
final class InterceptingProtocol<Depth>: URLProtocol {
    private enum Phase {
        case created
        case loading(Journey)
        case handedBack(ReturnedLoad)
        /// The load was cancelled before it began.
        ///
        /// Foundation ends the task.
        case cancelled
        /// The load has ended by itself, with a response or an error.
        case ended
    }

    // `phase` is used on the loading queue only.
    private var phase = Phase.created
    /// The binding that was chosen for this load; nil for the loads of a class with one binding.
    private let chosen: Binding?

    /// Makes the protocol of a load.
    ///
    /// A binding is chosen here, and not when the load starts, because only here does the Swift task that began the load
    /// still run.
    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        let choice = cachedResponse as? ChosenBinding
        chosen = choice?.binding ?? Binding.chosen(for: Self.self)
        super.init(request: request, cachedResponse: choice.map(\.prepared) ?? cachedResponse, client: client)
    }

    /// The client that Foundation itself calls when a task was cancelled; nil once the load is over.
    ///
    /// When a cancel meets the end of its load, Foundation would call the client for a task that the session has
    /// already forgotten, and that kills the process.
    override var client: (any URLProtocolClient)? {
        get { isOver ? nil : super.client }
        set { super.client = newValue }
    }

    private var isOver: Bool {
        switch phase {
        case .created, .handedBack, .cancelled: false
        case .loading(let journey): journey.hasReportedEnd
        case .ended: true
        }
    }

    /// Whether the binding's interceptor takes the request: a pure function of the request.
    ///
    /// It runs under a lock of the whole process.
    override class func canInit(with request: URLRequest) -> Bool {
        Binding.of(self)?.claims(request) ?? false
    }

    /// Returns the request unchanged: Foundation on Linux never calls this, and rules and cache canonicalise by
    /// themselves.
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Starts the load, or continues it after a suspension.
    override func startLoading() {
        switch phase {
        case .created: begin()
        case .loading(let journey): journey.start()
        case .handedBack(let returned): returned.start()
        case .cancelled, .ended: break
        }
    }

    /// Pauses or ends the load, depending on the task's state.
    override func stopLoading() {
        guard let task else { return }
        switch phase {
        // A cancel may overtake the start, which still follows.
        case .created: if task.state == .canceling || task.state == .completed { phase = .cancelled }
        case .cancelled, .ended: break
        case .loading(let journey):
            switch StopReason(task) {
            case .suspension: journey.suspend()
            case .cancellation: journey.cancel()
            case .overtaken: break
            }
        case .handedBack(let returned): returned.stop(StopReason(task))
        }
    }

    private func begin() {
        guard let client = LoadClient(self) else { return }
        guard client.task.state != .suspended else {
            // Nothing is sent or delivered now: the session calls `startLoading` again when the task is resumed.
            (cachedResponse as? PreparedVisit)?.expire()
            return
        }
        guard let binding = chosen ?? Binding.of(Self.self) else {
            // The interceptor was released between the request and its start.
            let message = "the interceptor was released before the load began: keep it as long as its sessions"
            return fail(client, URLError(.cancelled, failing: request.url, message))
        }
        let task = client.task
        // Downloads, and the tasks of the shared session, do not pass through `LookUpCache`, which otherwise does this.
        InlineCompletion.current.switchOff(for: task)
        RequestTimeout.current.obey(for: task)
        // A cancel overtook the start: only Foundation may end the task now.
        guard task.state == .running else { return phase = .cancelled }
        guard Self.canAnswer(task) else {
            if binding.interceptor.isEnabled, binding.stations.isExternalLink(request) {
                let context = binding.context(for: request, rule: nil)
                return refuse(client.recorded(in: context), ExternalLinks.refused(task, request.url), context)
            }
            guard let visit = binding.carriedVisit(of: task, request) else { return leave(client, binding) }
            let context = binding.context(for: visit.hop.request, rule: visit.hop.rule)
            return go(on: visit, client.recorded(in: context), context)
        }
        guard let visit = (cachedResponse as? PreparedVisit)?.take() ?? binding.firstVisit(for: request) else {
            let context = binding.context(for: request, rule: nil)
            return handBack(client.recorded(in: context), context, "no rule takes it")
        }
        let context = binding.context(for: visit.hop.request, rule: visit.hop.rule)
        go(on: visit, client.recorded(in: context), context)
    }

    /// Whether a protocol can load a task as it loads data tasks.
    private static func canAnswer(_ task: URLSessionTask) -> Bool {
        type(of: task) == URLSessionDataTask.self
            || type(of: task) == URLSessionDownloadTask.self && DownloadedFile.current.canBeHandedOver
    }

    /// Answers at once where that is possible; otherwise begins a journey.
    private func go(on visit: Visit, _ client: LoadClient, _ context: LoadContext) {
        let visit = context.answering(visit)
        switch visit.verdict {
        case .answer(let answer) where deliverInline(answer, visit.hop.ticket, client, context): phase = .ended
        case .handBack where visit.hop.canBeHandedBack: handBack(client, context, Self.nothingToChange)
        case .fail(let error): refuse(client, error, context)
        default: begunJourney(client, context).go(on: visit)
        }
    }

    private static var nothingToChange: String { "there is nothing to store or to change" }

    private func begunJourney(_ client: LoadClient, _ context: LoadContext) -> Journey {
        let recipient = TaskClient(client, context.environment.files) {
            (client.owner as? Self)?.handBack(client, context, Self.nothingToChange)
        }
        let journey = Journey(recipient, context)
        phase = .loading(journey)
        journey.start()
        return journey
    }

    /// Delivers an answer at once, when it needs no journey.
    private func deliverInline(
        _ answer: Answer,
        _ ticket: LoginTicket?,
        _ client: LoadClient,
        _ context: LoadContext
    ) -> Bool {
        guard let ticket else { return AnswerDelivery.deliverInline(answer, to: client, context) }
        // A log-out waits until the load has left its place among the loads of the login. Without a place, the journey
        // that is begun instead ends with the log-out.
        let place = LoginPlace()
        guard place.enter(ticket, end: { _ in false }) else { return false }
        defer { place.leave() }
        return AnswerDelivery.deliverInline(answer, to: client, context)
    }

    /// Leaves a task that no protocol can serve to Foundation's own loader: uploads keep their body, web sockets their
    /// frames.
    ///
    /// A rule that keeps loads from the network refuses these tasks too.
    private func leave(_ client: LoadClient, _ binding: Binding) {
        let refusal = binding.refusal(of: client.task, request)
        let context = binding.context(for: request, rule: refusal?.rule)
        let client = client.recorded(in: context)
        guard let refusal else {
            return handBack(client, context, "only Foundation can load a \(type(of: client.task))")
        }
        refuse(client, refusal.error, context)
    }

    private func refuse(_ client: LoadClient, _ error: URLError, _ context: LoadContext) {
        context.emit(error.isBlocked ? .blocked : .failed(error))
        fail(client, error)
    }

    private func fail(_ client: LoadClient, _ error: URLError) {
        phase = .ended
        client.fail(error)
    }

    private func handBack(_ client: LoadClient, _ context: LoadContext, _ reason: String) {
        guard let returned = ReturnedLoad(client, context) else {
            let message = "no class of the session's configuration loads such a URL"
            return refuse(client, URLError(.unsupportedURL, failing: request.url, message), context)
        }
        returned.goOn = { [weak self] journey in
            self?.phase = .loading(journey)
            journey.start()
        }
        returned.ended = { [weak self] isCancelled in self?.phase = isCancelled ? .cancelled : .ended }
        returned.enterLogin()
        phase = .handedBack(returned)
        context.emit(.handedBack(reason: reason))
        returned.start()
    }
}

/// Delivers to a task, within `startLoading`, an answer that needs no journey.
enum AnswerDelivery {
    /// Delivers the answer at once, if the task has no delegate, which may decide about the response.
    ///
    /// It does not deliver redirects and refusals of tokens, after which the load sends further requests.
    ///
    /// - Returns: False when the load must begin a journey.
    static func deliverInline(_ answer: Answer, to client: LoadClient, _ context: LoadContext) -> Bool {
        guard case .data(let data) = answer.body, client.task.delegate == nil, answer.head.statusCode != 401,
            !RedirectPolicy.statuses.contains(answer.head.statusCode),
            // A download gets a file.
            type(of: client.task) != URLSessionDownloadTask.self,
            let response = answer.head.response
        else { return false }
        client.receive(response)
        if !data.isEmpty { client.load(data) }
        context.emit(answer)
        context.renew(answer)
        client.finish(response)
        return true
    }
}

/// The `URLCache` of an intercepted configuration.
///
/// It caches nothing.
///
/// A session asks its cache about a data task before it starts the task's protocol. The cache may answer on any thread,
/// and the session then starts the protocol on the right queue. So look-ups on disk are made here, without a hop back to
/// the loading queue: at once if they need not wait for the disk and no other load waits for that queue; otherwise on
/// the store's own queue. For tasks that no rule takes it asks the app's own cache, or answers at once, which is quicker
/// than the cache of `.default`.
///
/// It sees every data task of an intercepted session, so two faults of Foundation are corrected here for all of these
/// tasks: ``InlineCompletion`` and ``RequestTimeout``.
///
/// It also holds the binding, so that an interceptor lives as long as the sessions made with it.
final class LookUpCache: URLCache, @unchecked Sendable {
    // `@unchecked` because the superclass is; the properties added here do not change.
    private let binding: Binding
    private let appCache: URLCache?
    private let visits = VisitsUnderWay()

    init(_ binding: Binding) {
        self.binding = binding
        appCache = binding.network.urlCache
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: NSTemporaryDirectory())
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @Sendable @escaping (CachedURLResponse?) -> Void
    ) {
        InlineCompletion.current.switchOff(for: dataTask)
        RequestTimeout.current.obey(for: dataTask)
        guard let request = dataTask.originalRequest, type(of: dataTask) == URLSessionDataTask.self,
            let visit = binding.firstVisit(for: request)
        else { return passOn(dataTask, completionHandler) }
        let isCalm = visits.begin()
        let complete: @Sendable (Verdict) -> Void = { [visits] in
            completionHandler(PreparedVisit(Visit(visit.hop, $0), in: visits))
        }
        guard case .lookUp(let lookUp) = visit.verdict, !lookUp.isForeign else { return complete(visit.verdict) }
        // Loads that wait for the loading queue are better served by a look-up that leaves it to them, unless nothing has
        // to be read.
        if let verdict = lookUp.inMemory(isCalm) { return complete(verdict) }
        _ = lookUp.run(complete)
    }

    /// Asks the app's own cache, so that responses that the app put there remain usable.
    ///
    /// `URLCache.shared` is asked only when it is not empty: the session itself never puts anything there on Linux.
    private func passOn(_ task: URLSessionDataTask, _ completion: @Sendable @escaping (CachedURLResponse?) -> Void) {
        guard let appCache, appCache !== URLCache.shared || appCache.currentMemoryUsage > 0 else {
            return completion(nil)
        }
        appCache.getCachedResponse(for: task, completionHandler: completion)
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        appCache?.cachedResponse(for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        appCache?.storeCachedResponse(cachedResponse, for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        appCache?.storeCachedResponse(cachedResponse, for: dataTask)
    }

    override func removeCachedResponse(for request: URLRequest) {
        appCache?.removeCachedResponse(for: request)
    }

    override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        appCache?.removeCachedResponse(for: dataTask)
    }

    override func removeAllCachedResponses() {
        appCache?.removeAllCachedResponses()
    }
}

/// The tasks of a session whose protocol has not been started since the session asked its cache about them.
///
/// While there are any, the loading queue has other work.
final class VisitsUnderWay: Sendable {
    private let count = Atomic(0)
    /// The number of tasks, one after the other, that began while there was no other.
    private let calm = Atomic(0)

    /// Adds a task.
    ///
    /// - Returns: Whether the loading queue is free: this task and the three before it began while there was no other.
    ///   Many loads at a time also come to moments without another.
    func begin() -> Bool {
        guard count.add(1, ordering: .relaxed).oldValue == 0 else {
            calm.store(0, ordering: .relaxed)
            return false
        }
        return calm.add(1, ordering: .relaxed).newValue > 3
    }

    /// Removes a task: its protocol was started, or the session has dropped it.
    func end() { count.subtract(1, ordering: .relaxed) }
}
