public import Foundation

/// How often a source may be asked.
///
/// A value without a clock of its own: the caller tells the time, and keeps the value where it outlives the process.
public struct UpdateThrottle: Sendable, Hashable, Codable {
    /// When the last check was made; nil before the first.
    public private(set) var lastCheck: Date?
    /// From when on the next one may be made.
    public private(set) var nextCheck: Date?
    /// From when on the server wants to be asked again; nil when it did not say.
    public private(set) var retryDate: Date?

    private static let longestDelay = 86_400.0 * 366

    /// A throttle that has seen no check yet.
    public init() {}

    /// The least time between two checks, and how much longer it may be.
    public struct Interval: Sendable, Hashable {
        /// The time between two checks; five minutes by default.
        public var duration: Duration
        /// The share by which it is prolonged at most, 0 to 1, so that clients which started together part; 0.1 by default.
        ///
        /// It never shortens: two checks are never closer than ``duration``.
        public var jitter: Double

        /// An interval.
        public init(_ duration: Duration = .seconds(300), jitter: Double = 0.1) {
            self.duration = duration
            self.jitter = jitter
        }

        /// A time that is longer by up to the share of ``jitter``.
        func varied(_ duration: Duration, using random: inout some RandomNumberGenerator) -> Duration {
            let share = min(max(jitter.isNaN ? 0 : jitter, 0), 1)
            let seconds = duration.inSeconds * Double.random(in: 1...(1 + share), using: &random)
            // Bounded, since `Duration` holds not any number.
            return .seconds(min(seconds, UpdateThrottle.longestDelay))
        }
    }

    /// How long to wait before the next check; nil when it may be made now.
    ///
    /// A clock that was set back behind the last check does not stop updates until it has caught up.
    public func delay(at now: Date) -> Duration? {
        guard let lastCheck, let nextCheck, lastCheck <= now, now < nextCheck else { return nil }
        // Bounded, since a damaged record may hold any date and `Duration` not any number.
        return .seconds(min(nextCheck.timeIntervalSince(now), Self.longestDelay))
    }

    /// How long to wait before the next check of a caller that checks at an interval of its own; nil when it may be made
    /// now.
    ///
    /// What the server wants counts, and the interval of ``recordCheck(at:retryAfter:interval:using:)`` does not.
    public func delay(at now: Date, every interval: Duration) -> Duration? {
        guard let lastCheck, lastCheck <= now else { return nil }
        let next = max(lastCheck.addingTimeInterval(interval.inSeconds), retryDate ?? .distantPast)
        guard now < next else { return nil }
        return .seconds(min(next.timeIntervalSince(now), Self.longestDelay))
    }

    /// Notes that a check was made, whether it succeeded or not.
    ///
    /// - Parameters:
    ///   - now: When the check began.
    ///   - retryAfter: How long from then the server wants to be left alone; the longer of this and the interval counts.
    ///   - interval: The least time between two checks.
    ///   - random: Where the variation comes from.
    public mutating func recordCheck(
        at now: Date,
        retryAfter: Duration? = nil,
        interval: Interval = Interval(),
        using random: inout some RandomNumberGenerator
    ) {
        let wait = max(interval.varied(interval.duration, using: &random), retryAfter ?? .zero, .zero)
        lastCheck = now
        retryDate = retryAfter.map { now.addingTimeInterval(min(max(.zero, $0).inSeconds, Self.longestDelay)) }
        nextCheck = now.addingTimeInterval(min(wait.inSeconds, Self.longestDelay))
    }
}
