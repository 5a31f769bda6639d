import Foundation
import FoundationNetworking
import WaystationRules

/// What an interceptor holds, for everything that works on its loads.
final class Engine: Sendable {
    let rules: CompiledRules
    let cache: ResponseCache?
    let events: EventBroadcaster
    let configuration: Interceptor.Configuration
    let renewals = Renewals()

    init(_ configuration: Interceptor.Configuration) throws {
        rules = try CompiledRules(configuration.rules, hasCache: configuration.cache != nil)
        cache = configuration.cache
        events = EventBroadcaster(logger: configuration.logger)
        self.configuration = configuration
        cache?.addListener { [weak events] event in events?.emit(LoadEvent(kind: .store(event))) }
    }

    /// The first step for a request that a rule takes, and the rule's index; nil when none takes it.
    func firstStep(for request: URLRequest) -> (step: ServingStep, rule: Int)? {
        guard let canonical = CanonicalRequest(request), let match = rules.match(canonical, of: request) else {
            return nil
        }
        let serving = Serving(engine: self, request: request, canonical: canonical)
        return (serving.step(match.action), match.index)
    }

    /// Why a task that only Foundation can load must not be left to it: its rule keeps it from the network.
    func refusal(of task: URLSessionTask, _ request: URLRequest) -> (error: URLError, rule: Int)? {
        guard let canonical = CanonicalRequest(request), let match = rules.match(canonical, of: request),
            !match.action.reachesNetwork
        else { return nil }
        let serving = Serving(engine: self, request: request, canonical: canonical)
        if case .block = match.action, case .fail(let error) = serving.step(.block) { return (error, match.index) }
        return (DownloadAdvice.refusal(of: task, request), match.index)
    }
}
