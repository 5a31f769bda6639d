import Foundation
import FoundationNetworking
import HTTPTypes
import WaystationStorage

/// A task handed back to Foundation's own loader, on the same task: uploads keep their body, downloads get
/// their file, delegates get every chunk, redirect and challenge.
///
/// The loader speaks to the task's client through this object, which passes everything on, except where the
/// loader's own way would end in a hang or with a misleading error. All calls come on the loading queue.
final class ReturnedLoad: NSObject {
    private let loader: URLProtocol
    private let client: LoadClient
    private let context: LoadContext
    private var status = 0
    private var bytes = 0
    /// Its place among the loads of a login, left at its end.
    private var place: LoginPlace?
    /// Before which log-outs it was sent.
    private lazy var moment = context.engine.cookies?.moment()
    /// Takes the task over when the loader was refused and the request is sent again by the transport.
    var goOn: ((Load) -> Void)?
    /// Called when the load is over, by its end or by a cancel: whoever holds this object lets go of it.
    var ended: ((_ isCancelled: Bool) -> Void)?

    /// Nil when no class of the app's own configuration takes the request.
    init?(_ client: LoadClient, _ context: LoadContext) {
        guard let loaderClass = context.binding.network.loader(for: context.request) else { return nil }
        self.client = client
        self.context = context
        let relay = ClientRelay()
        loader = loaderClass.init(task: client.task, cachedResponse: nil, client: relay)
        super.init()
        relay.load = self
        // The loader holds its client, and the client this object, until the load is over.
        self.relay = relay
        if client.task is URLSessionDownloadTask { client.recording?.bodyIsUnseen() }
    }

    private var relay: ClientRelay?

    /// Whether the loader was started.
    private var isStarted = false
    /// How the load ended while its task was suspended, to be told when the task is resumed.
    private var heldEnd: (() -> Void)?

    /// Starts the loader, or goes on after a suspension.
    func start() {
        // Suspended again, or before it began: the session calls once more when the task is resumed.
        guard client.task.state != .suspended else { return }
        if let heldEnd = heldEnd.take() { return heldEnd() }
        isStarted = true
        // A loader that runs ignores the call, unless it followed a redirect meanwhile and waits to go on.
        loader.startLoading()
    }

    func stop(_ reason: StopReason) {
        switch reason {
        // The loader would drop its connection, send the request again when the task is resumed, and deliver the new
        // body behind what it delivered of the old one. It goes on instead; the end waits for the task.
        case .suspension: break
        case .cancellation:
            if isStarted, heldEnd == nil { loader.stopLoading() }
            heldEnd = nil
            context.emit(.cancelled)
            release(isCancelled: true)
        case .overtaken: break
        }
    }

    private func release(isCancelled: Bool = false) {
        place?.leave()
        place = nil
        relay?.load = nil
        relay = nil
        goOn = nil
        let ended = ended
        self.ended = nil
        ended?(isCancelled)
    }

    // MARK: - Cookies

    /// Counts the task among the loads of the login, which ends it: Foundation has chosen cookies for its host.
    ///
    /// It says nothing of its end to this object when it is cancelled while it is suspended: so the place is left once
    /// the cancel has been heard on the task's queue, after which no answer is delivered.
    func enterLogin() {
        _ = moment
        guard let login = context.engine.configuration.login, login.covers(client.task.originalRequest?.url) else {
            return
        }
        let task = client.task
        // The task's own queue: only there what comes later is sure to come after its cancel.
        let queue = LoadingQueue(of: task)
        place = LoginTicket(login).enter { place in
            // On the loading queue it would wait for itself.
            DispatchQueue.global().async {
                task.cancel()
                guard queue.isKnown else { return place.leave() }
                queue.hop { place.leave() }
            }
        }
    }

    /// Foundation has its own idea of what a response sets, in its own storage; the store has the RFC's.
    private func takeCookies() {
        guard let cookies = context.engine.cookies, let moment, let request = client.task.currentRequest,
            let head = client.task.response as? HTTPURLResponse
        else { return }
        cookies.take(head, to: request, sent: moment)
    }

    // MARK: - What the loader says

    /// Runs `end` now, or when the task is resumed: a suspended task does not end.
    ///
    /// Foundation itself ends a task that is being cancelled, and calls ``stop(_:)`` first.
    fileprivate func end(_ end: @escaping () -> Void) {
        switch client.task.state {
        case .suspended: heldEnd = end
        case .canceling: break
        default: end()
        }
    }

    fileprivate func didReceive(_ response: URLResponse) {
        status = (response as? HTTPURLResponse)?.statusCode ?? 0
        client.recording?.didReceive(response)
        guard let head = response as? HTTPURLResponse else {
            return pass { $0.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed) }
        }
        let task = client.task
        let session = LoadingSession.current(for: task)
        _ = ResponseAnnouncement.make(
            head,
            for: task,
            in: session?.session,
            listener: { session?.listener(of: task) },
            receive: { response in
                self.pass { $0.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed) }
            },
            answer: { disposition in
                // Foundation cannot hold the body back; a refusal ends the task all the same.
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
        takeCookies()
        let response = client.task.response as? HTTPURLResponse
        if let response, let space = URLProtectionSpace.asked(by: response) { return settle(response, space) }
        finish(status: response?.statusCode ?? status)
    }

    /// What Foundation loads by itself changes what is stored all the same: an upload, a body from a stream.
    ///
    /// Told at the end, since a loader tells of a response only where a delegate listens.
    private func invalidateStored() {
        guard let store = context.engine.cache?.store, let head = client.task.response as? HTTPURLResponse,
            let canonical = CanonicalRequest(context.request),
            let request = HTTPRequest(context.request, canonical: canonical)
        else { return }
        store.invalidate(after: request, head)
    }

    fileprivate func didFail(_ error: any Error) {
        invalidateStored()
        takeCookies()
        guard client.task is URLSessionDownloadTask, FoundationInternals.workQueue(of: client.task) != nil else {
            return fail(error)
        }
        let box = Box(load: self)
        let task = client.task
        DownloadAdvice.explain(error, of: task, context) { told in
            LoadingQueue(of: task).hop { box.load.fail(told) }
        }
    }

    private func fail(_ error: any Error) {
        // A cancel ends the task by itself.
        guard client.task.state != .canceling, client.task.state != .completed else {
            return release(isCancelled: true)
        }
        client.recording?.didEnd(error)
        context.emit(.failed((error as? URLError) ?? URLError(.unknown, failing: context.request.url, "\(error)")))
        pass { $0.urlProtocol(loader, didFailWithError: error) }
        release()
    }

    private func finish(status: Int) {
        if isRedirectedUpload {
            context.emit(.degraded("the upload was redirected, and Foundation sent it on without its body"))
        }
        // Of a response without a body the loader says nothing.
        client.recording?.didEnd(with: client.task.response)
        context.emit(.served(from: .foundation, status: status, bytes: bytes))
        pass { $0.urlProtocolDidFinishLoading(loader) }
        release()
    }

    private func pass(_ call: (any URLProtocolClient) -> Void) {
        call(client.client)
    }

    /// Whether Foundation followed a redirect with an upload; what it then sends has no body.
    private var isRedirectedUpload: Bool {
        guard client.task is URLSessionUploadTask, let last = client.task.currentRequest else { return false }
        return last.url != context.request.url && last.httpMethod == context.request.httpMethod
    }

    // MARK: - Refused for want of credentials

    /// Foundation would ask for credentials, and wait for ever where none are given.
    private func settle(_ response: HTTPURLResponse, _ space: URLProtectionSpace) {
        let credentials = context.binding.network.credentials
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
        // With no way back to this queue, the question is left to Foundation.
        guard FoundationInternals.workQueue(of: task) != nil else { return finish(status: response.statusCode) }
        DelegateChallenge.ask(task, challenge) { answer in
            LoadingQueue(of: task).hop { box.load.proceed(answer, after: response) }
        }
    }

    private func proceed(_ answer: ChallengeAnswer, after response: HTTPURLResponse) {
        guard client.task.state == .running || client.task.state == .suspended else { return }
        switch answer {
        case .complete: complete(response)
        case .cancel: didFail(URLError(.cancelled, failing: response.url))
        case .retry(let authorization, let credential):
            guard type(of: client.task) == URLSessionDataTask.self, context.request.httpBodyStream == nil else {
                // The body is Foundation's alone, so it must send it again; it asks the delegate by itself.
                return finish(status: response.statusCode)
            }
            if credential.persistence != .none, let space = URLProtectionSpace.asked(by: response) {
                context.binding.network.credentials?.set(credential, for: space)
            }
            var request = context.request
            request.setValue(authorization, forHTTPHeaderField: "Authorization")
            let load = Load(client, context.engine.backlog)
            ended = nil
            goOn?(load)
            NetworkLoad.start(load, request, Forwarding(failures: 1), context)
            release()
        }
    }

    /// Ends the task with the refusal as its answer.
    private func complete(_ response: HTTPURLResponse) {
        let settled = UnchallengedResponse.settling(response)
        ResponseAnnouncement.replace(with: settled, for: client.task) { response in
            self.pass { $0.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed) }
        }
        (settled as? UnchallengedResponse).concluding { finish(status: 401) }
    }

    /// `@unchecked Sendable`: crosses threads only on its way back to the loading queue.
    private struct Box: @unchecked Sendable {
        let load: ReturnedLoad
    }
}

/// The client of Foundation's loader, for a task handed back.
///
/// `@unchecked Sendable`: clients are declared to be sendable; they are called on the loading queue alone.
private final class ClientRelay: NSObject, URLProtocolClient, @unchecked Sendable {
    /// Held while the load lives: loader, relay and load hold each other until its end.
    var load: ReturnedLoad?

    func urlProtocol(_: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy _: URLCache.StoragePolicy) {
        load?.didReceive(response)
    }

    func urlProtocol(_: URLProtocol, didLoad data: Data) { load?.didLoad(data) }
    func urlProtocolDidFinishLoading(_: URLProtocol) {
        guard let load else { return }
        load.end { [unowned load] in load.didFinish() }
    }

    func urlProtocol(_: URLProtocol, didFailWithError error: any Error) {
        guard let load else { return }
        load.end { [unowned load] in load.didFail(error) }
    }

    // Foundation's loader on Linux makes none of these calls by itself.
    func urlProtocol(_: URLProtocol, wasRedirectedTo _: URLRequest, redirectResponse _: URLResponse) {}
    func urlProtocol(_: URLProtocol, cachedResponseIsValid _: CachedURLResponse) {}
    func urlProtocol(_: URLProtocol, didReceive _: URLAuthenticationChallenge) {}
    func urlProtocol(_: URLProtocol, didCancel _: URLAuthenticationChallenge) {}
}
