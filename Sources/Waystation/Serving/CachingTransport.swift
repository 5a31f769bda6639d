import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import WaystationCaching

/// The network of one load, with the cache before it: each exchange of the load, redirects among them, is answered
/// from what is stored, or fetched and stored.
///
/// Answers to unsafe methods make what is stored invalid (RFC 9111 §4.4).
final class CachingTransport: Transport {
    private let strategy: CacheStrategy
    private let engine: Engine
    private let network: Network
    private let first: Mutex<CacheFinding?>

    init(_ plan: CachePlan, engine: Engine, network: Network) {
        strategy = plan.strategy
        first = Mutex(plan.first)
        self.engine = engine
        self.network = network
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        guard let cache = engine.cache, let canonical = CanonicalRequest(request) else {
            return network.transport.start(request, receiver: receiver)
        }
        guard let entry = CacheRequest(request, canonical: canonical.url.string), strategy != .networkOnly else {
            let target = HTTPRequest(request, canonical: canonical)
            let relay = target.map { InvalidatingReceiver(receiver, $0, cache.store) } ?? receiver
            return network.transport.start(request, receiver: relay)
        }
        let hop = CacheHop(engine: engine, network: network, receiver: receiver)
        let known = first.withLock { first in
            defer { first = nil }
            return first
        }
        if let known, known.entry.message == entry.message, known.request.url == request.url {
            // With the mark that it goes out with.
            hop.begin(known.sent(as: request))
        } else {
            let strategy = strategy
            let engine = engine
            cache.store.lookup(entry.key) { variants in
                hop.begin(CacheFinding(strategy, request, entry, StoredVariants(variants), engine))
            }
        }
        return hop
    }
}

/// A receiver that can be given an answer that is at hand, instead of a head, parts and an end.
protocol AnswerReceiver: TransportReceiver {
    func transportDidAnswer(_ answer: Answer)
}

/// One exchange of a load by way of the cache.
private final class CacheHop: TransportExchange, FetchWaiter {
    private struct State {
        var finding: CacheFinding?
        var fetch: SharedFetch?
        var hasBegun = false
        /// It was answered, or cancelled; what still arrives is for the cache alone.
        var isOver = false
        var isCancelled = false
        var isAlone = false
    }

    private let engine: Engine
    private let network: Network
    private let receiver: any TransportReceiver
    private let state = Mutex(State())

    init(engine: Engine, network: Network, receiver: any TransportReceiver) {
        self.engine = engine
        self.network = network
        self.receiver = receiver
    }

    func begin(_ finding: CacheFinding) {
        state.withLock { $0.finding = finding }
        switch finding.decision {
        case .serve(let selection, _):
            guard let answer = finding.answer(selection) else { return ask(CacheDecision.Fetch(.miss), finding) }
            if let renewal = finding.renewal { engine.fetches.renew(renewal, engine: engine, through: network) }
            deliver(answer)
        case .fetch(let fetch): ask(fetch, finding)
        case .bypass: ask(CacheDecision.Fetch(.bypass), finding)
        case .gatewayTimeout:
            if let answer = finding.gatewayTimeout { deliver(answer) }
        case .unavailable:
            let what = CacheFinding.notStored(finding.entry.message.method.rawValue + " " + finding.entry.key.url)
            let error = WaystationError(.notStored, what)
            end(URLError(.resourceUnavailable, failing: finding.request.url, what, underlying: error))
        }
    }

    private func ask(_ fetch: CacheDecision.Fetch, _ finding: CacheFinding) {
        var plan = FetchPlan(
            request: finding.request,
            entry: finding.entry,
            variants: finding.variants,
            strategy: finding.strategy,
            revalidation: fetch.revalidation,
            reason: fetch.reason,
            mayStandIn: fetch.mayStandIn
        )
        if fetch.refreshesOthers, plan.request.value(forHTTPHeaderField: "Cache-Control") == nil {
            plan.request.setValue("no-cache", forHTTPHeaderField: "Cache-Control")
            plan.request.setValue("no-cache", forHTTPHeaderField: "Pragma")
        }
        if let timeout = fetch.timeout, fetch.fallback != nil {
            engine.configuration.schedule(timeout) { [weak self] in self?.standIn() }
        }
        let isAlone = state.withLock(\.isAlone)
        guard !state.withLock(\.isOver),
            let shared = engine.fetches.fetch(plan, for: self, isAlone: isAlone, engine: engine, through: network)
        else { return }
        let isTooLate = state.withLock { state in
            state.fetch = shared
            return state.isCancelled
        }
        if isTooLate { shared.leave(self) }
    }

    func cancel() {
        let fetch: SharedFetch? = state.withLock { state in
            // What was answered by what is stored leaves the late response to the cache.
            guard !state.isOver else { return nil }
            state.isOver = true
            state.isCancelled = true
            return state.fetch
        }
        fetch?.leave(self)
    }

    // MARK: - What the fetch says

    func fetchDidReceive(_ head: HTTPURLResponse) {
        let isForUs = state.withLock { state in
            guard !state.isOver else { return false }
            state.hasBegun = true
            return true
        }
        if isForUs { receiver.transportDidReceive(head) }
    }

    func fetchDidReceive(_ part: Data) {
        if !state.withLock(\.isOver) { receiver.transportDidReceive(part) }
    }

    func fetchDidAnswer(_ answer: Answer) { deliver(answer) }

    func fetchDidEnd(_ error: (any Error)?) {
        if let error, !state.withLock(\.hasBegun), (error as? URLError)?.code != .cancelled, standIn() { return }
        end(error)
    }

    func fetchIsNotShared() {
        let finding = state.withLock { state in
            state.isAlone = true
            state.fetch = nil
            return state.isOver ? nil : state.finding
        }
        guard let finding, case .fetch(let fetch) = finding.decision else { return }
        ask(fetch, finding)
    }

    // MARK: - Answering

    /// Answers with what is stored, where the strategy or the RFCs allow that without the network.
    @discardableResult
    private func standIn() -> Bool {
        guard let finding = state.withLock({ $0.isOver || $0.hasBegun ? nil : $0.finding }),
            case .fetch(let fetch) = finding.decision,
            let selection = fetch.fallback
                ?? (fetch.mayStandIn
                    ? fetch.revalidation?.standIn(for: .unreachable, now: engine.configuration.now()) : nil),
            let answer = finding.answer(selection)
        else { return false }
        deliver(answer)
        return true
    }

    private func deliver(_ answer: Answer) {
        let isFirst = state.withLock { state in
            guard !state.isOver, !state.hasBegun else { return false }
            state.isOver = true
            return true
        }
        guard isFirst else { return }
        if let receiver = receiver as? any AnswerReceiver { return receiver.transportDidAnswer(answer) }
        receiver.transportDidReceive(answer.response)
        do {
            switch answer.body {
            case .data(let data): if !data.isEmpty { receiver.transportDidReceive(data) }
            case .source(let source): receiver.transportDidReceive(try source.read(at: 0, count: source.length))
            }
            receiver.transportDidEnd(nil)
        } catch {
            receiver.transportDidEnd(error)
        }
    }

    private func end(_ error: (any Error)?) {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { receiver.transportDidEnd(error) }
    }
}
