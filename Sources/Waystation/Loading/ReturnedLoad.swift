import HTTPTypes
import WaystationFoundation
import WaystationStorage

/// A task that was handed back to Foundation's own loader, on the same task: uploads keep their body, downloads get
/// their file, delegates get every chunk, redirect and challenge.
///
/// The loader calls the task's client through this object, which passes everything on, except when the loader's own
/// behaviour would end in a hang or in a misleading error. All calls are made on the loading queue.
final class ReturnedLoad: NSObject {
    private let loader: URLProtocol
    private let client: LoadClient
    private let context: LoadContext
    private var status = 0
    private var bytes = 0
    /// The load's place among those of a login, which it leaves at its end.
    private let place = LoginPlace()
    /// Keeps cookies that Foundation stores for the response apart from the app's, until ``takeCookies()``.
    private var cookieLoad: CookieSync.FoundationLoad?
    /// The point in the order of log-outs at which the request was sent.
    private lazy var moment = context.network.cookies?.store.moment()
    /// Passes the task to a journey when the response was refused and the request is sent again.
    var goOn: ((Journey) -> Void)?
    /// Called when the load is over, because it ended or was cancelled.
    ///
    /// The owner then releases this object.
    var ended: ((_ isCancelled: Bool) -> Void)?

    /// Makes a load; nil when no protocol class takes the request, neither one of the app's own configuration nor one of
    /// Foundation's.
    init?(_ client: LoadClient, _ context: LoadContext) {
        guard let loaderClass = context.network.loader(for: context.request) else { return nil }
        self.client = client
        self.context = context
        let relay = ClientRelay()
        loader = loaderClass.init(task: client.task, cachedResponse: nil, client: relay)
        super.init()
        relay.load = self
        // The loader holds its client, and the client holds this object, until the load is over.
        self.relay = relay
        if client.task is URLSessionDownloadTask { client.recording?.bodyIsUnseen() }
    }

    private var relay: ClientRelay?

    /// Whether the loader was started.
    private var isStarted = false
    /// The next step of a load that ended, or whose challenge was answered, while its task was suspended.
    ///
    /// It runs when the task is resumed.
    private var heldStep: (() -> Void)?

    /// Starts the loader, or continues after a suspension.
    func start() {
        // The task was suspended again, or before it began: the session makes another call when the task is resumed.
        guard client.task.state != .suspended else { return }
        if let heldStep = heldStep.take() { return heldStep() }
        isStarted = true
        // A web socket may stay open for days.
        if cookieLoad == nil, !(client.task is URLSessionWebSocketTask) {
            cookieLoad = context.network.cookies?.beginFoundationLoad(of: context.request)
        }
        // A running loader ignores the call, unless it followed a redirect meanwhile and waits to continue.
        loader.startLoading()
    }

    func stop(_ reason: StopReason) {
        switch reason {
        // A stopped loader would drop its connection, send the request again when the task is resumed, and deliver the
        // new body after what it delivered of the old one. The loader of a suspended task therefore continues, and only
        // the end of the load waits for the task.
        case .suspension: break
        case .cancellation:
            if isStarted, heldStep == nil { loader.stopLoading() }
            heldStep = nil
            if isStarted { takeCookies() }
            context.emit(.cancelled)
            release(isCancelled: true)
        case .overtaken: break
        }
    }

    private func release(isCancelled: Bool = false) {
        place.leave()
        relay?.load = nil
        relay = nil
        goOn = nil
        let ended = ended
        self.ended = nil
        ended?(isCancelled)
    }

    // MARK: - Cookies

    /// Counts the task among the loads of the login, because Foundation has chosen cookies for its host.
    ///
    /// A log-out cancels the task.
    ///
    /// Foundation does not report the end of a task that is cancelled while it is suspended. The load therefore leaves
    /// its place after the cancel has been processed on the task's queue; no answer is delivered after that.
    func enterLogin() {
        _ = moment
        guard let login = context.stations.login, login.covers(client.task.originalRequest?.url) else {
            return
        }
        let task = client.task
        // Only on the task's own queue is later work certain to run after the task's cancel.
        let queue = LoadingQueue(of: task)
        _ = place.enter(LoginTicket(login)) { place in
            let isUnderWay = task.state == .running || task.state == .suspended
            // On the loading queue, the cancel would wait for itself.
            DispatchQueue.global().async {
                task.cancel()
                if queue.isKnown { queue.hop { place.leave() } } else { place.leave() }
            }
            return isUnderWay
        }
    }

    /// Foundation stores the response's cookies in its own storage by its own rules; the store applies the RFC's rules.
    private func takeCookies() {
        defer { cookieLoad = nil }
        guard let cookies = context.network.cookies, let moment, let request = client.task.currentRequest
        else { return }
        let head = (client.task.response as? HTTPURLResponse).map { ResponseHead($0) }
        cookies.take(head, loadedByFoundationFor: request, sent: moment)
    }

    // MARK: - Calls of the loader

    /// Runs `step` now, or when the task is resumed: a suspended task does not end, and sends no further request.
    ///
    /// Foundation itself ends a task that is being cancelled, and calls ``stop(_:)`` first.
    fileprivate func whenNotSuspended(_ step: @escaping () -> Void) {
        switch client.task.state {
        case .suspended: heldStep = step
        case .canceling: break
        default: step()
        }
    }

    fileprivate func didReceive(_ response: URLResponse) {
        status = (response as? HTTPURLResponse)?.statusCode ?? 0
        client.recording?.didReceive(response)
        guard let head = response as? HTTPURLResponse else { return passHead(response) }
        let task = client.task
        let session = LoadingSession.current(for: task)
        _ = ResponseAnnouncement.make(
            head,
            for: task,
            in: session?.session,
            listener: { session?.listener(of: task) },
            receive: passHead,
            answer: { disposition in
                // The body cannot be held back until the delegate answers, but a refusal still ends the task.
                if disposition == .cancel { task.cancel() }
            }
        )
    }

    fileprivate func didLoad(_ data: Data) {
        bytes += data.count
        client.recording?.didLoad(data)
        pass { $0.urlProtocol(loader, didLoad: data) }
    }

    fileprivate func didFinish() {
        invalidateStored()
        clearSiteData()
        takeCookies()
        guard let response = client.task.response as? HTTPURLResponse else { return finish(status: status) }
        guard response.statusCode == 401 else { return finish(status: response.statusCode) }
        // Foundation finds challenges in fields that have none by the RFC, and would wait for ever for their answer.
        guard let space = URLProtectionSpace.asked(by: ResponseHead(response)) else { return complete(response) }
        settle(response, space)
    }

    /// Invalidates stored responses after loads that Foundation ran by itself, such as an upload or a body from a
    /// stream.
    ///
    /// It is called at the end, because a loader reports a response only if there is a delegate.
    private func invalidateStored() {
        guard let cache = context.cache, let head = client.task.response as? HTTPURLResponse,
            let canonical = CanonicalRequest(context.request),
            let request = HTTPRequest(context.request, canonical: canonical)
        else { return }
        cache.invalidate(after: request, ResponseHead(head))
    }

    /// Removes the data that the response demands to be removed.
    private func clearSiteData() {
        guard let head = client.task.response as? HTTPURLResponse, let request = client.task.currentRequest else {
            return
        }
        let network = context.network
        network.siteData.clear(
            by: ResponseHead(head),
            to: request,
            takesCookies: network.cookies?.areTaken(for: request) ?? request.httpShouldHandleCookies
        )
    }

    fileprivate func didFail(_ error: any Error) {
        invalidateStored()
        clearSiteData()
        takeCookies()
        fail(error)
    }

    private func fail(_ error: any Error) {
        // A cancelled task is ended by Foundation itself.
        guard client.task.state != .canceling, client.task.state != .completed else {
            return release(isCancelled: true)
        }
        client.recording?.didEnd(error)
        context.emit(.failed((error as? URLError) ?? URLError(.unknown, failing: context.request.url, "\(error)")))
        EndedTask.current.keepFromResuming(client.task)
        pass { $0.urlProtocol(loader, didFailWithError: error) }
        release()
    }

    private func finish(status: Int) {
        if isRedirectedUpload {
            context.emit(.degraded("the upload was redirected, and Foundation sent it on without its body"))
        }
        // The loader does not report a response without a body.
        client.recording?.didEnd(with: client.task.response)
        context.emit(.served(from: .foundation, status: status, bytes: bytes))
        EndedTask.current.keepFromResuming(client.task, status: status)
        pass { $0.urlProtocolDidFinishLoading(loader) }
        release()
    }

    private func pass(_ call: (any URLProtocolClient) -> Void) {
        call(client.client)
    }

    private func passHead(_ response: URLResponse) {
        pass { $0.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed) }
    }

    /// Whether Foundation followed a redirect with an upload; the request that it then sends has no body.
    private var isRedirectedUpload: Bool {
        guard client.task is URLSessionUploadTask, let last = client.task.currentRequest else { return false }
        return last.url != context.request.url && last.httpMethod == context.request.httpMethod
    }

    // MARK: - Refused because credentials are missing

    /// The request that is sent again with a credential.
    ///
    /// Waystation sends the last request, to which Foundation may have followed redirects. Only Foundation has the body
    /// of an upload or a stream and the file of a download; it sends the first request again.
    private var requestToRepeat: URLRequest {
        guard isRepeatable, let last = client.task.currentRequest, last.url != context.request.url else {
            return context.request
        }
        return last
    }

    /// Whether Waystation can send the request again.
    private var isRepeatable: Bool {
        type(of: client.task) == URLSessionDataTask.self && context.request.httpBodyStream == nil
    }

    /// Settles the challenge here, because Foundation would ask for credentials and wait for ever if it gets none.
    private func settle(_ response: HTTPURLResponse, _ space: URLProtectionSpace) {
        // A credential is for the origin that asks for it, and not for one that redirects there (RFC 7617 §2).
        guard let asking = response.url, let target = requestToRepeat.url, target.hasSameOrigin(as: asking) else {
            return complete(response)
        }
        let credentials = context.network.credentials
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space,
            proposedCredential: credentials?.defaultCredential(for: space),
            previousFailureCount: 0,
            failureResponse: response,
            error: nil,
            sender: ChallengeSender()
        )
        let box = Box(load: self)
        let task = client.task
        // Without a way back to this queue, the challenge is left to Foundation.
        guard FoundationInternals.workQueue(of: task) != nil else { return finish(status: response.statusCode) }
        DelegateChallenge.ask(task, challenge) { answer in
            // The app may have suspended its task meanwhile, while it showed a dialog for instance.
            LoadingQueue(of: task).hop {
                box.load.whenNotSuspended { [unowned load = box.load] in load.proceed(answer, after: response) }
            }
        }
    }

    private func proceed(_ answer: ChallengeAnswer, after response: HTTPURLResponse) {
        guard client.task.state == .running else { return }
        switch answer {
        case .complete: complete(response)
        case .cancel: didFail(URLError.cancelledChallenge(of: response.url))
        case .retry(let authorization, let credential):
            guard isRepeatable else {
                // Foundation must send the request again. It asks the delegate by itself; without one it would use a
                // stored credential at once and wait for its own queue, which ends the process.
                return client.task.delegate == nil ? complete(response) : finish(status: response.statusCode)
            }
            if credential.persistence != .none, let space = URLProtectionSpace.asked(by: ResponseHead(response)) {
                context.network.credentials?.set(credential, for: space)
            }
            var request = context.network.cookieField.adding(to: requestToRepeat)
            request.setValue(authorization, forHTTPHeaderField: "Authorization")
            let journey = Journey(TaskClient(client, context.environment.files), context, failures: 1)
            ended = nil
            goOn?(journey)
            var hop = Hop(request, context.stations.matcher.match(request), rule: context.rule)
            hop.isChanged = true
            journey.go(on: Visit(hop, .send))
            release()
        }
    }

    /// Ends the task with the 401 as its response.
    private func complete(_ response: HTTPURLResponse) {
        let settled = UnchallengedResponse.settling(response)
        let task = client.task
        let session = LoadingSession.current(for: task)
        ResponseAnnouncement.replace(
            with: settled,
            for: task,
            in: session?.session,
            listener: { session?.listener(of: task) },
            receive: passHead
        )
        (settled as? UnchallengedResponse).concluding { finish(status: 401) }
    }

    /// `@unchecked Sendable`: crosses threads only on its way back to the loading queue.
    private struct Box: @unchecked Sendable {
        let load: ReturnedLoad
    }
}

/// The client of Foundation's loader, for a task that was handed back.
///
/// `@unchecked Sendable`: clients are declared to be sendable; they are called on the loading queue alone.
private final class ClientRelay: NSObject, URLProtocolClient, @unchecked Sendable {
    /// Held until the load ends: loader, relay and load hold each other until then.
    var load: ReturnedLoad?

    func urlProtocol(_: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy _: URLCache.StoragePolicy) {
        load?.didReceive(response)
    }

    func urlProtocol(_: URLProtocol, didLoad data: Data) { load?.didLoad(data) }
    func urlProtocolDidFinishLoading(_: URLProtocol) {
        guard let load else { return }
        load.whenNotSuspended { [unowned load] in load.didFinish() }
    }

    func urlProtocol(_: URLProtocol, didFailWithError error: any Error) {
        guard let load else { return }
        load.whenNotSuspended { [unowned load] in load.didFail(error) }
    }

    // Foundation's loader on Linux makes none of these calls by itself.
    func urlProtocol(_: URLProtocol, wasRedirectedTo _: URLRequest, redirectResponse _: URLResponse) {}
    func urlProtocol(_: URLProtocol, cachedResponseIsValid _: CachedURLResponse) {}
    func urlProtocol(_: URLProtocol, didReceive _: URLAuthenticationChallenge) {}
    func urlProtocol(_: URLProtocol, didCancel _: URLAuthenticationChallenge) {}
}
