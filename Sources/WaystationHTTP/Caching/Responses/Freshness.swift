public import Foundation
import HTTPTypes

/// The age and the freshness lifetime of a stored response (RFC 9111 §4.2), in whole seconds.
public struct Freshness: Hashable, Sendable {
    /// The source of a lifetime.
    public enum Basis: Hashable, Sendable {
        /// The `max-age` directive (§4.2.1).
        case maxAge
        /// The `Expires` field (§4.2.1).
        case expires
        /// The cache's own estimate (§4.2.2).
        case heuristic
        /// No source: the response is stale from the beginning.
        case none
    }

    /// current_age (§4.2.3); 2^31 when it is unknown because the clock went back.
    public let age: Duration
    /// freshness_lifetime (§4.2.1).
    public let lifetime: Duration
    /// The source of the lifetime.
    public let basis: Basis

    /// Whether the lifetime is greater than the age; when they are equal, the response is stale (§4.2).
    public var isFresh: Bool { lifetime > age }

    /// How much longer the response is fresh; negative when it is stale.
    public var timeToLive: Duration { lifetime - age }
}

extension StoredHead {
    /// The stored response's age and lifetime at a given time.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - rules: The rules for heuristics and the clock; the standard rules by default.
    /// - Returns: The age, the lifetime, and the source of the lifetime.
    /// - Complexity: O(1); the fields are read once.
    public func freshness(now: Date, rules: CachingRules = .standard) -> Freshness {
        let lifetime = lifetime(rules)
        return Freshness(
            age: Duration(wholeSeconds: age(now: now.timeIntervalSince1970, rules)),
            lifetime: Duration(wholeSeconds: lifetime.seconds),
            basis: lifetime.basis
        )
    }

    /// The next time at which the age, in whole seconds, changes.
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

    /// The lifetime by max-age, else by Expires, else by the heuristic (§4.2.1); `s-maxage` is for shared caches.
    private func lifetime(_ rules: CachingRules) -> ResponseFacts.Lifetime {
        if let explicit = facts.explicitLifetime { return explicit }
        guard let span = facts.heuristicSpan, rules.heuristicFraction > 0,
            facts.isMarkedStorable || rules.heuristicStatuses.contains(status),
            rules.usesHeuristicsForQueries || !facts.hasQuery
        else { return ResponseFacts.Lifetime(seconds: 0, basis: .none) }
        let guess = min(span * rules.heuristicFraction, rules.heuristicMaximum.inSeconds, DeltaSeconds.greatest)
        return ResponseFacts.Lifetime(seconds: max(guess, 0).rounded(.down), basis: .heuristic)
    }
}
