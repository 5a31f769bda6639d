import Foundation
import Synchronization
import WaystationRules

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Finds the rule that takes a request.
///
/// Foundation asks several times in a row about one request, so the last answer is kept. It depends only on URL and
/// method, unless a rule has a predicate.
final class RequestMatcher: Sendable {
    /// A request in canonical form, with the rule that takes it and its step.
    ///
    /// A class, because a hop is copied from station to station.
    final class Match: Sendable {
        let canonical: CanonicalRequest
        let step: CompiledRules.Step
        let rule: Int

        init(canonical: CanonicalRequest, step: CompiledRules.Step, rule: Int) {
            self.canonical = canonical
            self.step = step
            self.rule = rule
        }
    }

    let rules: CompiledRules
    private let last = Mutex<Last?>(nil)

    init(_ rules: CompiledRules) { self.rules = rules }

    /// The rule that takes a request; nil when none does.
    func match(_ request: URLRequest) -> Match? {
        guard let url = request.url?.absoluteString else { return nil }
        let method = request.httpMethod ?? "GET"
        if !rules.hasPredicates, let known = last.withLock({ $0 }), known.url == url, known.method == method {
            return known.match
        }
        let match = CanonicalRequest(request).flatMap { canonical in
            rules.match(canonical, of: request).map {
                Match(canonical: canonical, step: $0.action, rule: $0.index)
            }
        }
        last.withLock { $0 = Last(url: url, method: method, match: match) }
        return match
    }

    private final class Last: Sendable {
        let url: String
        let method: String
        let match: Match?

        init(url: String, method: String, match: Match?) {
            self.url = url
            self.method = method
            self.match = match
        }
    }
}
