public import Foundation
import WaystationHTTP

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

/// How long an update that failed is not tried again: the pause doubles with each further failure.
public struct RetryPause: Sendable, Hashable {
    /// The pause after the first failure; a minute by default.
    public var first: Duration
    /// The longest pause; an hour by default.
    public var longest: Duration

    /// Makes the settings of the pauses.
    public init(first: Duration = .seconds(60), longest: Duration = .seconds(3600)) {
        self.first = first
        self.longest = longest
    }

    /// The pause after a number of consecutive failures.
    func duration(after attempts: Int) -> Duration {
        var pause = max(.zero, min(first, longest))
        var doublings = max(1, attempts) - 1
        while doublings > 0, pause > .zero, pause < longest {
            pause = min(pause * 2, longest)
            doublings -= 1
        }
        return pause
    }
}

/// An update that failed, and the time from which it may be tried again.
public struct FailedUpdate: Sendable, Hashable, Codable {
    /// The way of updating that failed.
    public enum Way: String, Sendable, Hashable, Codable, CaseIterable {
        /// A content patch.
        case contentPatch
        /// A zip patch.
        case zipPatch
        /// The whole pack.
        case whole
        /// The version itself, no matter how it was fetched: the app found it bad.
        case version
    }

    /// The version that a patch was applied to; nil for the other ways.
    public var from: PackVersion?
    /// The version that it leads to; nil when the source does not name it.
    public var to: PackVersion?
    /// The way that failed.
    public var way: Way
    /// The URL that was fetched; it distinguishes failures whose version is not named.
    public var artifact: URL?
    /// The digest of the part that failed: for a file, the one that the offer announced; for a version, the manifest's.
    ///
    /// A file that is announced with another digest is a different file, and is tried at once. Nil when no digest was
    /// announced.
    public var digest: PackDigest?
    /// The digest that the offer announced for the result, such as the manifest's; nil when none was announced.
    public var result: PackDigest?
    /// The number of consecutive failures; 1 or more.
    public var attempts = 1
    /// The time from which the update may be tried again.
    public var retryAt: Date

    /// Makes a failure.
    public init(
        from: PackVersion? = nil,
        to: PackVersion?,
        way: Way,
        artifact: URL? = nil,
        digest: PackDigest? = nil,
        result: PackDigest? = nil,
        attempts: Int = 1,
        retryAt: Date
    ) {
        self.from = from
        self.to = to
        self.way = way
        self.artifact = artifact
        self.digest = digest
        self.result = result
        self.attempts = attempts
        self.retryAt = retryAt
    }

    /// Reads a failure; records of earlier releases have no digests and no number of attempts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        from = try container.decodeIfPresent(PackVersion.self, forKey: .from)
        to = try container.decodeIfPresent(PackVersion.self, forKey: .to)
        way = try container.decode(Way.self, forKey: .way)
        artifact = try container.decodeIfPresent(URL.self, forKey: .artifact)
        digest = try container.decodeIfPresent(PackDigest.self, forKey: .digest)
        result = try container.decodeIfPresent(PackDigest.self, forKey: .result)
        // Bounded, since a damaged record may hold any number.
        attempts = min(max(1, try container.decodeIfPresent(Int.self, forKey: .attempts) ?? 1), 1_000_000)
        retryAt = try container.decode(Date.self, forKey: .retryAt)
    }

    /// Whether both failures are of the same way, with the same file and the same result.
    func isOfSameWay(as other: FailedUpdate) -> Bool {
        way == other.way && from == other.from && to == other.to && digest == other.digest && result == other.result
            && (artifact == other.artifact || artifact.map { $0.isSameFile(as: other.artifact) } ?? false)
    }
}

extension URL {
    /// Whether two URLs name the same file, ignoring their queries: some servers sign each URL anew.
    func isSameFile(as other: URL?) -> Bool {
        scheme == other?.scheme && host == other?.host && port == other?.port && path == other?.path
    }
}
