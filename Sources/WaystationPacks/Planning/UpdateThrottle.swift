public import Foundation
import WaystationFields

/// Limits how often a source may be asked.
///
/// A value without a clock of its own: the caller passes the time, and stores the value so that it survives the
/// process.
public struct UpdateThrottle: Sendable, Hashable, Codable {
    /// The time of the last check; nil before the first.
    public private(set) var lastCheck: Date?
    /// The time from which the next check may be made.
    public private(set) var nextCheck: Date?
    /// The time before which the server wants no request; nil when it did not say.
    public private(set) var retryDate: Date?

    private static let longestDelay = 86_400.0 * 366

    /// Makes a throttle without any check so far.
    public init() {}

    /// The minimum time between two checks, and its random extension.
    public struct Interval: Sendable, Hashable {
        /// The time between two checks; five minutes by default.
        public var duration: Duration
        /// The largest random extension, as a share of the interval from 0 to 1; it spreads the checks of clients that
        /// started together.
        ///
        /// 0.1 by default.
        ///
        /// It never shortens the interval: two checks are never closer than ``duration``.
        public var jitter: Double

        /// Makes an interval.
        public init(_ duration: Duration = .seconds(300), jitter: Double = 0.1) {
            self.duration = duration
            self.jitter = jitter
        }

        /// The duration, extended by a random share of up to ``jitter``.
        func varied(_ duration: Duration, using random: inout some RandomNumberGenerator) -> Duration {
            let share = min(max(jitter.isNaN ? 0 : jitter, 0), 1)
            let seconds = duration.inSeconds * Double.random(in: 1...(1 + share), using: &random)
            // Bounded, since `Duration` cannot hold every number.
            return .seconds(min(seconds, UpdateThrottle.longestDelay))
        }
    }

    /// How long to wait before the next check; nil when it may be made now.
    ///
    /// A last check in the future means that the clock was set back; it does not delay the next check.
    public func delay(at now: Date) -> Duration? {
        guard let lastCheck, let nextCheck, lastCheck <= now, now < nextCheck else { return nil }
        // Bounded, since a damaged record may hold any date, and `Duration` cannot hold every number.
        return .seconds(min(nextCheck.timeIntervalSince(now), Self.longestDelay))
    }

    /// How long to wait before the next check, for a caller with its own interval; nil when it may be made now.
    ///
    /// The server's wish counts; the interval of ``recordCheck(at:retryAfter:interval:using:)`` does not.
    public func delay(at now: Date, every interval: Duration) -> Duration? {
        guard let lastCheck, lastCheck <= now else { return nil }
        let next = max(lastCheck.addingTimeInterval(interval.inSeconds), retryDate ?? .distantPast)
        guard now < next else { return nil }
        return .seconds(min(next.timeIntervalSince(now), Self.longestDelay))
    }

    /// Records that a check was made, successful or not.
    ///
    /// - Parameters:
    ///   - now: The time when the check began.
    ///   - retryAfter: How long after that the server wants no request; the longer of this and the interval counts.
    ///   - interval: The minimum time between two checks.
    ///   - random: The source of the random extension.
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
