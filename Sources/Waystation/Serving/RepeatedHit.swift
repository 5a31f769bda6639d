import Foundation
import FoundationNetworking
import Synchronization
import WaystationCaching
import WaystationStorage

/// A hit that is the answer to every request like the one that it was made for, for as long as nothing about it changes.
///
/// What a hit comes to depends on the request, on what is stored for it and on the time. While one response is stored
/// for a key, the next request with the same fields gets the same answer, until its age is to be told anew or its
/// freshness ends: so a page that is asked for again and again is decided about every two seconds.
struct RepeatedHit: Sendable {
    private let rules: CachingRules
    private let strategy: CacheStrategy
    private let url: URL
    private let fields: [String: String]
    /// When it is the answer; a clock that was set back ends it too.
    private let times: Range<Date>
    private let answer: Answer

    /// The answer to `request`, if the last hit of what is stored for it was for one like it.
    static func find(
        for request: URLRequest,
        by strategy: CacheStrategy,
        among responses: [StoredResponse],
        engine: Engine
    ) -> Answer? {
        guard responses.count == 1, let stored = responses.first, isRepeatable(request),
            let hit = PreparedResponse.of(stored).lastHit.withLock({ $0 }),
            hit.strategy == strategy, hit.times.contains(engine.configuration.now()), hit.url == request.url,
            hit.fields == request.allHTTPHeaderFields ?? [:], hit.rules == engine.configuration.cachingRules
        else { return nil }
        return hit.answer
    }

    /// Notes a hit for the requests that follow.
    static func note(
        _ answer: Answer,
        _ selection: StoredSelection,
        for request: URLRequest,
        by strategy: CacheStrategy,
        among responses: [StoredResponse],
        engine: Engine
    ) {
        let now = engine.configuration.now()
        let rules = engine.configuration.cachingRules
        guard responses.count == 1, let stored = responses.first, isRepeatable(request), let url = request.url,
            case let prepared = PreparedResponse.of(stored),
            case let end = end(of: selection, telling: prepared.toldAge, strategy, now, rules), now < end
        else { return }
        let hit = RepeatedHit(
            rules: rules,
            strategy: strategy,
            url: url,
            fields: request.allHTTPHeaderFields ?? [:],
            times: now..<end,
            answer: answer
        )
        prepared.lastHit.withLock { $0 = hit }
    }

    /// Whether the answer depends on nothing but the fields and the time; directives of a request are about its very
    /// moment, and a body makes it another request.
    private static func isRepeatable(_ request: URLRequest) -> Bool {
        request.cachePolicy == .useProtocolCachePolicy && request.httpMethod == "GET" && request.httpBody == nil
            && request.httpBodyStream == nil && request.value(forHTTPHeaderField: "Cache-Control") == nil
            && request.value(forHTTPHeaderField: "Pragma") == nil
    }

    /// When it must be decided anew: when the age that it tells is more than a second behind (RFC 9111 §5.1 counts it in
    /// whole seconds), when it is fresh no more, or at the end of the time that the strategy serves it for.
    private static func end(
        of selection: StoredSelection,
        telling toldAge: Int64?,
        _ strategy: CacheStrategy,
        _ now: Date,
        _ rules: CachingRules
    ) -> Date {
        let freshness = selection.freshness
        let nextAge = selection.exchange.nextAge(after: now, rules: rules)
        let isUpToDate = freshness.age.components.seconds == toldAge
        let told = nextAge.addingTimeInterval(isUpToDate ? 1 : 0)
        if let limit = strategy.limit {
            return min(told, selection.exchange.responseTime.addingTimeInterval(limit.inSeconds))
        }
        return strategy.obeysHTTP
            ? min(told, nextAge.addingTimeInterval(freshness.timeToLive.inSeconds - 1)) : told
    }
}
