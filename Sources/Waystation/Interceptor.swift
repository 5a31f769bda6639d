public import Foundation
public import FoundationNetworking
import Synchronization
public import WaystationRules

/// Intercepts the loads of sessions by rules in code: it answers them from files and from the response cache, or sends
/// them to the network.
///
/// ```swift
/// let interceptor = try Interceptor {
///     $0.rules = [.allow("https://img.example/**", via: .cache(.cacheFirst(for: .days(7))))]
///     $0.cache = try ResponseCache(directory: caches)
/// }
/// let session = URLSession(configuration: .default.intercepted(by: interceptor))
/// ```
///
/// Several interceptors live side by side, each bound to the sessions made from its configurations. All members
/// may be called from any thread.
public final class Interceptor: Sendable {
    let engine: Engine
    private let isSwitchedOn = Atomic(true)

    /// Makes an interceptor.
    ///
    /// - Parameter configure: Fills in the configuration.
    /// - Throws: ``WaystationError`` when a pattern is not valid, a directory cannot be opened or a rule lacks its
    ///   cache; any error that `configure` throws.
    public convenience init(_ configure: (inout Configuration) throws -> Void) throws {
        var configuration = Configuration()
        try configure(&configuration)
        try self.init(configuration)
    }

    /// Makes an interceptor from a configuration.
    public init(_ configuration: Configuration) throws {
        engine = try Engine(configuration)
    }

    /// Whether requests are intercepted; true at first.
    ///
    /// While it is false, Foundation's own loader runs the tasks that begin then. Loads that are under way continue as
    /// they began.
    public var isEnabled: Bool {
        get { isSwitchedOn.load(ordering: .relaxed) }
        set { isSwitchedOn.store(newValue, ordering: .relaxed) }
    }

    /// The present problems (``condition``), followed by all new events, as a new stream for each call.
    ///
    /// A reader that falls more than 4,096 events behind loses the oldest. The streams end with the interceptor.
    public var events: AsyncStream<LoadEvent> {
        engine.events.makeStream { [engine] in engine.condition }
    }

    /// The present problems of the cache, the packs and the cookies, as the events that reported them; empty if they
    /// have no problem.
    public var condition: [LoadEvent] { engine.condition }

    /// Warnings about rules that are valid but probably do not do what was meant, in the order of the rules.
    ///
    /// Such rules are one that an earlier rule lets no request reach, files at a base URL that the rule's pattern does
    /// not take, a pattern such as `https://api.example.com`, which takes only the front page, and a pattern with an
    /// unclosed `[`. The rules are used as they are written; the first 20 warnings are logged when the interceptor is
    /// made.
    public var warnings: [RuleWarning] { engine.rules.warnings }

    /// Returns which rule takes a request, or the reasons why none does.
    ///
    /// It has no side effects.
    public func decision(for request: URLRequest) -> Decision {
        guard isEnabled else { return .untouched(reasons: ["the interceptor is switched off"]) }
        if ForwardingTag.isTagged(request) { return .untouched(reasons: ["an interceptor sent the request"]) }
        if engine.isExternalLink(request) { return .openedElsewhere }
        guard let canonical = CanonicalRequest(request) else {
            return .untouched(reasons: ["\(request.url?.absoluteString ?? "nil") is not an absolute URL"])
        }
        switch engine.rules.decision(canonical, of: request) {
        case .matched(let index, let pattern, let step):
            if case .block = step { return .blocked(rule: index, pattern: "\(pattern)") }
            return .allowed(rule: index, pattern: "\(pattern)")
        case .unmatched(let reasons):
            return .untouched(reasons: reasons.map { "\($0)" })
        }
    }

    /// Returns which rule takes a GET of a URL, or the reasons why none does.
    public func decision(for url: URL) -> Decision { decision(for: URLRequest(url: url)) }

    /// The decision of the rules about a request.
    public enum Decision: Equatable, Sendable {
        /// The rule at this index answers the request.
        case allowed(rule: Int, pattern: String)
        /// The rule at this index blocks the request.
        case blocked(rule: Int, pattern: String)
        /// The request is passed to the handler of external links.
        case openedElsewhere
        /// The request is left to Foundation; the reasons say why the nearest rules did not take it.
        case untouched(reasons: [String])
    }

    /// Whether the interceptor takes a request.
    ///
    /// It is pure and quick, because it runs under a lock of the whole process.
    func claims(_ request: URLRequest) -> Bool {
        isEnabled && !ForwardingTag.isTagged(request)
            && (engine.match(request) != nil || engine.isExternalLink(request))
    }
}
