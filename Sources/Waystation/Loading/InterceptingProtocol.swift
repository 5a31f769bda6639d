import Foundation
import FoundationNetworking

/// The protocol class that comes first in an intercepted configuration.
///
/// `Depth` makes the class of each binding a different type and has no other meaning.
///
/// Foundation calls it on one serial queue that all sessions of the process share. So nothing here may block, and
/// nothing may make or resume a task, which would wait for this very queue.
final class InterceptingProtocol<Depth>: URLProtocol {
    private enum Phase {
        case created
        case loading(Load)
        case handedBack(ReturnedLoad)
        /// The load was cancelled before it began.
        ///
        /// Foundation ends the task.
        case cancelled
        /// The load has ended by its own end.
        case ended
    }

    // Used on the loading queue only.
    private var phase = Phase.created

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
        case .loading(let load): load.hasToldEnd
        case .ended: true
        }
    }

    /// Whether the binding's interceptor takes the request: a pure function of the request.
    ///
    /// It runs under a lock of the whole process.
    override class func canInit(with request: URLRequest) -> Bool {
        Binding.of(self)?.interceptor.claims(request) ?? false
    }

    /// Returns the request unchanged: Foundation on Linux never calls this, and rules and cache canonicalise by
    /// themselves.
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Starts the load, or continues it after a suspension.
    override func startLoading() {
        switch phase {
        case .created: begin()
        case .loading(let load): _ = load.start()
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
        case .loading(let load): load.stop(StopReason(task))
        case .handedBack(let returned): returned.stop(StopReason(task))
        }
    }

    private func begin() {
        guard let client = LoadClient(self) else { return }
        guard let binding = Binding.of(Self.self) else {
            // The interceptor was released between the request and its start.
            return fail(client, URLError(.cancelled, failing: request.url))
        }
        let task = client.task
        // Downloads, and the tasks of the shared session, do not pass through `LookUpCache`, which otherwise does this.
        InlineCompletion.current.switchOff(for: task)
        RequestTimeout.current.obey(for: task)
        // A cancel overtook the start: only Foundation may end the task now.
        guard task.state == .running || task.state == .suspended else { return phase = .cancelled }
        if binding.interceptor.isEnabled, binding.interceptor.engine.isExternalLink(request) {
            return open(client, binding)
        }
        guard type(of: task) == URLSessionDataTask.self else { return leave(client, binding) }
        let prepared = (cachedResponse as? PreparedStep).map { ($0.step, $0.rule) }
        guard let (step, rule) = prepared ?? binding.firstStep(for: request) else {
            let context = LoadContext(binding: binding, request: request, rule: nil)
            return handBack(client.recorded(in: context), context, "no rule takes it")
        }
        let context = LoadContext(binding: binding, request: binding.network.completing(request), rule: rule)
        take(step, client.recorded(in: context), context)
    }

    /// Leaves a task that no protocol can serve to Foundation's own loader: uploads keep their body, downloads get
    /// their file, web sockets their frames.
    ///
    /// A rule that keeps loads from the network refuses these tasks too.
    private func leave(_ client: LoadClient, _ binding: Binding) {
        let refusal = binding.interceptor.engine.refusal(of: client.task, request)
        let context = LoadContext(binding: binding, request: request, rule: refusal?.rule)
        let client = client.recorded(in: context)
        guard let refusal else {
            return handBack(client, context, "only Foundation can load a \(type(of: client.task))")
        }
        context.emit(refusal.error.isBlocked ? .blocked : .failed(refusal.error))
        fail(client, refusal.error)
    }

    /// Passes a link that belongs to another app to the app's handler; the load ends with an error that says so.
    private func open(_ client: LoadClient, _ binding: Binding) {
        let context = LoadContext(binding: binding, request: request, rule: nil)
        let client = client.recorded(in: context)
        guard type(of: client.task) == URLSessionDataTask.self, let url = request.url,
            let links = binding.interceptor.engine.configuration.externalLinks
        else {
            let error = ExternalLinks.refused(client.task, request.url)
            context.emit(.failed(error))
            return fail(client, error)
        }
        let load = begunLoad(client, context)
        load.onCancel { context.emit(.cancelled) }
        DispatchQueue.global().async {
            guard !load.hasEnded else { return }
            links.handler(context.request)
            context.emit(.openedElsewhere(url))
            load.deliver(.end(ExternalLinks.opened(url)))
        }
    }

    private func take(_ step: ServingStep, _ client: LoadClient, _ context: LoadContext) {
        switch step {
        case .answer(let answer):
            if deliverInline(answer, client, context) {
                phase = .ended
            } else {
                AnswerDelivery.deliver(answer, to: begunLoad(client, context), context)
            }
        case .forward(let forwarding):
            NetworkLoad.start(begunLoad(client, context), context.request, forwarding, context)
        case .spool(let spool):
            self.spool(spool, begunLoad(client, context), client, context)
        case .handBack where context.mustBeForwarded:
            NetworkLoad.start(begunLoad(client, context), context.request, Forwarding(), context)
        case .handBack:
            handBack(client, context, "there is nothing to store or to change")
        case .fail(let error):
            context.emit(error.isBlocked ? .blocked : .failed(error))
            fail(client, error)
        case .lookUp(let lookUp):
            let load = begunLoad(client, context)
            lookUp.run { step in
                load.deliver(.reached { (client.owner as? Self)?.proceed(with: step, load, client, context) })
            }
        case .changed(let request, let step):
            take(step, client, context.sending(request))
        case .wait(let wait):
            self.wait(for: wait, begunLoad(client, context), client, context)
        case .under(let ticket, let step):
            guard ticket.isValid else { return take(.fail(.loggedOut(request.url)), client, context) }
            take(step, client, context.under(ticket))
        }
    }

    /// Takes the next step of a load that is under way.
    private func proceed(with step: ServingStep, _ load: Load, _ client: LoadClient, _ context: LoadContext) {
        switch step {
        case .answer(let answer): AnswerDelivery.deliver(answer, to: load, context)
        case .forward(let forwarding): NetworkLoad.start(load, context.request, forwarding, context)
        case .spool(let spool): self.spool(spool, load, client, context)
        case .handBack where context.mustBeForwarded:
            NetworkLoad.start(load, context.request, Forwarding(), context)
        case .handBack: handBack(client, context, "there is nothing to store or to change")
        case .fail(let error):
            context.emit(error.isBlocked ? .blocked : .failed(error))
            load.deliver(.end(error))
        case .lookUp(let lookUp):
            lookUp.run { step in
                load.deliver(.reached { (client.owner as? Self)?.proceed(with: step, load, client, context) })
            }
        case .changed(let request, let step):
            proceed(with: step, load, client, context.sending(request))
        case .wait(let wait):
            self.wait(for: wait, load, client, context)
        case .under(let ticket, let step):
            guard load.enter(ticket) else { return }
            proceed(with: step, load, client, context.under(ticket))
        }
    }

    /// Waits as part of the load, so that a cancel ends the wait.
    private func wait(for wait: Wait, _ load: Load, _ client: LoadClient, _ context: LoadContext) {
        let stop = wait.begin { step in
            load.deliver(.reached { (client.owner as? Self)?.proceed(with: step, load, client, context) })
        }
        load.onCancel {
            stop()
            context.emit(.cancelled)
        }
    }

    /// Reads a body stream to its end, and sends the request with a body that can be sent more than once.
    private func spool(_ spool: BodySpool, _ load: Load, _ client: LoadClient, _ context: LoadContext) {
        let spooling = Spooling.start(
            context.request,
            spool,
            timeout: context.binding.network.timeout(of: context.request),
            schedule: context.engine.configuration.schedule
        ) { result in
            switch result {
            case .success(let request):
                load.deliver(
                    .reached {
                        let step = ServingStep.changed(request, .forward(Forwarding()))
                        (client.owner as? Self)?.proceed(with: step, load, client, context)
                    }
                )
            case .failure(let error):
                context.emit(.failed(error))
                load.deliver(.end(error))
            }
        }
        load.onCancel {
            spooling.cancel()
            context.emit(.cancelled)
        }
    }

    /// Delivers an answer at once, when it needs no load of its own.
    private func deliverInline(_ answer: Answer, _ client: LoadClient, _ context: LoadContext) -> Bool {
        guard let ticket = context.ticket else { return AnswerDelivery.deliverInline(answer, to: client, context) }
        // A log-out waits until the place is left. Without a place, the load that is begun instead ends with the
        // log-out.
        guard let place = ticket.enter(end: { _ in }) else { return false }
        defer { place.leave() }
        return AnswerDelivery.deliverInline(answer, to: client, context)
    }

    private func begunLoad(_ client: LoadClient, _ context: LoadContext) -> Load {
        let load = Load(client, context.engine.backlog)
        load.onRestart { load in
            // Waits until the store has dropped the unusable response; otherwise the next look-up would find it again.
            Task {
                await context.engine.cache?.store.flush()
                load.deliver(
                    .reached {
                        let step = context.binding.firstStep(for: context.request)?.step ?? .handBack
                        (client.owner as? Self)?.proceed(with: step, load, client, context)
                    }
                )
            }
        }
        phase = .loading(load)
        _ = load.start()
        if let ticket = context.ticket { load.enter(ticket) }
        return load
    }

    private func fail(_ client: LoadClient, _ error: URLError) {
        phase = .ended
        client.fail(error)
    }

    private func handBack(_ client: LoadClient, _ context: LoadContext, _ reason: String) {
        guard let returned = ReturnedLoad(client, context) else {
            return fail(client, URLError(.unsupportedURL, failing: request.url))
        }
        returned.goOn = { [weak self] load in
            self?.phase = .loading(load)
            _ = load.start()
        }
        returned.ended = { [weak self] isCancelled in self?.phase = isCancelled ? .cancelled : .ended }
        returned.enterLogin()
        phase = .handedBack(returned)
        context.emit(.handedBack(reason: reason))
        returned.start()
    }
}
