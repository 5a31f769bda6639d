import Foundation
import FoundationNetworking
import Synchronization

/// Decides about each request of one load, including those after redirects: the sources of its rule answer it, or it is
/// sent to the network.
///
/// The first rule that matches the target of a redirect decides about it. If no rule matches, the rule of the request
/// before applies: so an archive keeps the page behind a redirect.
final class HopTransport: Transport {
    /// The decision about the first request, which was made before the load was forwarded.
    enum First: Sendable {
        /// The request is sent to the network, without the cache.
        case network
        /// The cache takes part, with this finding.
        case found(CacheFinding)
    }

    private struct State {
        var first: First?
        var route: CompiledRules.Step
        var rule: Int?
        var isCached = false
    }

    private let engine: Engine
    private let network: Network
    private let state: Mutex<State>

    /// Makes a transport for one load.
    ///
    /// - Parameters:
    ///   - rule: The index of the rule that matched the first request; nil when no rule did.
    ///   - first: The decision about the first request.
    ///   - engine: The engine of the interceptor.
    ///   - network: The network of the load's session.
    init(rule: Int?, first: First, engine: Engine, network: Network) {
        self.engine = engine
        self.network = network
        state = Mutex(State(first: first, route: rule.map(engine.rules.step(of:)) ?? .network, rule: rule))
    }

    /// The index of the rule that decided about the last request.
    var rule: Int? { state.withLock(\.rule) }

    /// Whether the cache takes part in the last exchange, and has set its `Cache-Status`.
    var isCached: Bool { state.withLock(\.isCached) }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let first = state.withLock { state in
            state.isCached = false
            return state.first.take()
        }
        switch first {
        case .network: return network.send(request, for: receiver, dropping: engine.cache?.store)
        case .found(let finding) where finding.isFor(request, engine):
            let exchange = HopExchange(engine: engine, network: network, receiver: receiver)
            state.withLock { $0.isCached = true }
            exchange.begin(finding.sent(as: request))
            return exchange
        case .found, nil: return meetRules(request, receiver)
        }
    }

    private func meetRules(_ request: URLRequest, _ receiver: any TransportReceiver) -> any TransportExchange {
        guard let canonical = CanonicalRequest(request) else {
            return network.send(request, for: receiver, dropping: nil)
        }
        let match = engine.match(request)
        let route = state.withLock { state in
            guard let match else { return state.route }
            state.rule = match.rule
            state.route = match.step
            return match.step
        }
        var serving = Serving(engine: engine, request: request, canonical: canonical)
        // After a redirect to another origin Foundation adds cookies that the request does not show.
        serving.mayHideCookies = engine.cookies == nil
        let exchange = HopExchange(engine: engine, network: network, receiver: receiver)
        exchange.take(serving.step(route), for: request) { self.state.withLock { $0.isCached = true } }
        return exchange
    }
}

extension CacheFinding {
    /// Whether the finding is still right for the request that is sent: its cookies may have changed since the look-up.
    fileprivate func isFor(_ request: URLRequest, _ engine: Engine) -> Bool {
        guard let canonical = CanonicalRequest(request), let entry = engine.cacheRequest(request, canonical) else {
            return false
        }
        return self.entry.message == entry.message && self.request.url == request.url
    }
}
