import Foundation
import FoundationNetworking

/// The failures after which a load is tried again, the number of attempts and the delays.
struct RetryPolicy: Sendable {
    /// The number of attempts after the first.
    var retries = 4
    /// The delay before the first retry; it doubles with each attempt.
    var firstDelay = Duration.milliseconds(500)
    var longestDelay = Duration.seconds(30)
    /// If a server asks for a longer pause than this, the load is not tried again.
    var longestRetryAfter = Duration.seconds(600)

    enum Decision: Equatable {
        case giveUp
        /// `pausesHost`: The server asked for the delay, so nothing else is loaded from that host in the meantime.
        case retry(after: Duration, pausesHost: Bool)
    }

    /// The decision after an answer.
    ///
    /// - `attempt`: 1 for the first.
    /// - `jitter`: 0...1, spreads retries that would otherwise all happen at once.
    func decision(
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

    func decision(error: URLError.Code, attempt: Int, jitter: Double = .random(in: 0...1)) -> Decision {
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
