public import Foundation
import HTTPTypes

/// How old a stored response is and how old it may become (RFC 9111 §4.2), in whole seconds.
public struct Freshness: Hashable, Sendable {
    /// Where a lifetime comes from.
    public enum Basis: Hashable, Sendable {
        /// The `max-age` directive (§4.2.1).
        case maxAge
        /// The `Expires` field (§4.2.1).
        case expires
        /// The cache's own guess (§4.2.2).
        case heuristic
        /// Nothing: the response is stale from the beginning.
        case none
    }

    /// current_age (§4.2.3); 2^31 when it cannot be told, because the clock went back.
    public let age: Duration
    /// freshness_lifetime (§4.2.1).
    public let lifetime: Duration
    /// Where the lifetime comes from.
    public let basis: Basis

    /// Whether the lifetime is greater than the age; equal is stale (§4.2).
    public var isFresh: Bool { lifetime > age }

    /// How much longer the response is fresh; negative when it is not.
    public var timeToLive: Duration { lifetime - age }
}

extension StoredExchange {
    /// Its age and lifetime at a moment.
    ///
    /// - Parameters:
    ///   - now: The present.
    ///   - rules: The choices for heuristics and the clock.
    /// - Returns: Both, and where the lifetime comes from.
    /// - Complexity: O(1); the fields were read when the exchange was made.
    public func freshness(now: Date, rules: CachingRules = .standard) -> Freshness {
        let lifetime = lifetime(rules)
        return Freshness(
            age: Duration(wholeSeconds: age(now: now.timeIntervalSince1970, rules)),
            lifetime: Duration(wholeSeconds: lifetime.seconds),
            basis: lifetime.basis
        )
    }

    /// When its age, in whole seconds, will be another one than now.
    package func nextAge(after now: Date, rules: CachingRules) -> Date {
        let age = age(now: now.timeIntervalSince1970, rules)
        return now.addingTimeInterval(age.rounded(.down) + 1 - age)
    }

    /// current_age = corrected_initial_age + resident_time (§4.2.3).
    private func age(now: Double, _ rules: CachingRules) -> Double {
        let resident = now - responseTime.timeIntervalSince1970
        guard resident >= -rules.clockTolerance.inSeconds else { return DeltaSeconds.greatest }
        return min(facts.initialAge + max(resident, 0), DeltaSeconds.greatest)
    }

    /// The first of max-age, Expires and a guess (§4.2.1); `s-maxage` is for shared caches.
    private func lifetime(_ rules: CachingRules) -> ResponseFacts.Lifetime {
        if let explicit = facts.explicitLifetime { return explicit }
        guard let span = facts.heuristicSpan, rules.heuristicFraction > 0,
            facts.isMarkedStorable || rules.heuristicStatuses.contains(response.status.code),
            rules.usesHeuristicsForQueries || !facts.hasQuery
        else { return ResponseFacts.Lifetime(seconds: 0, basis: .none) }
        let guess = min(span * rules.heuristicFraction, rules.heuristicMaximum.inSeconds, DeltaSeconds.greatest)
        return ResponseFacts.Lifetime(seconds: max(guess, 0).rounded(.down), basis: .heuristic)
    }
}
