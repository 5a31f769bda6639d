public import Foundation
import FoundationNetworking

/// The failures after which a load is tried again, the number of attempts and the delays.
public struct RetryPolicy: Sendable {
    /// The number of attempts after the first.
    public var retries: Int
    /// The delay before the first retry; it doubles with each attempt.
    public var firstDelay = Duration.milliseconds(500)
    /// The delay does not grow beyond this.
    public var longestDelay = Duration.seconds(30)
    /// If a server asks for a longer pause than this, the load is not tried again.
    public var longestRetryAfter = Duration.seconds(600)

    /// Makes a policy with the default delays.
    public init(retries: Int = 4) {
        self.retries = retries
    }

    /// The next step after a load: another attempt, or none.
    public enum Decision: Equatable, Sendable {
        case giveUp
        /// `pausesHost`: The server asked for the delay, so nothing else is loaded from that host in the meantime.
        case retry(after: Duration, pausesHost: Bool)
    }

    /// The decision after an answer.
    ///
    /// - `retryAfter`: The response's `Retry-After`, which counts for 429 and 503.
    /// - `attempt`: 1 for the first.
    /// - `jitter`: 0...1, spreads retries that would otherwise all happen at once.
    public func decision(
        status: Int,
        retryAfter: String?,
        attempt: Int,
        now: Date,
        jitter: Double = .random(in: 0...1)
    ) -> Decision {
        guard attempt <= retries, status == 429 || status == 408 || (500...599).contains(status), status != 501 else {
            return .giveUp
        }
        if status == 429 || status == 503, let field = retryAfter, let delay = RetryAfter.delay(field, now: now) {
            return delay <= longestRetryAfter ? .retry(after: delay, pausesHost: true) : .giveUp
        }
        return .retry(after: backOff(attempt: attempt, jitter: jitter), pausesHost: false)
    }

    /// The decision after a load that got no answer.
    ///
    /// - `attempt`: 1 for the first.
    /// - `jitter`: 0...1, as above.
    public func decision(error: URLError.Code, attempt: Int, jitter: Double = .random(in: 0...1)) -> Decision {
        guard attempt <= retries else { return .giveUp }
        switch error {
        case .timedOut, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed, .notConnectedToInternet,
            .cannotFindHost, .badServerResponse, .cannotParseResponse, .unknown:
            return .retry(after: backOff(attempt: attempt, jitter: jitter), pausesHost: false)
        default:
            return .giveUp
        }
    }

    private func backOff(attempt: Int, jitter: Double) -> Duration {
        let doubled = firstDelay * (1 << min(attempt - 1, 16))
        return min(doubled, longestDelay) * (0.75 + jitter / 2)
    }
}
