import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The times for which servers want no requests (`Retry-After`, RFC 9110 §10.2.3), by the keys that they refused.
///
/// Only renewals in the background obey them: a load that waits asks its server all the same.
struct RequestedPauses: Sendable {
    /// The longest pause, so that a server's mistake cannot keep a response from being renewed for long.
    static let longest = Duration.seconds(3600)
    /// The number of keys that are remembered; the pauses that began first are forgotten.
    static let limit = 256

    private var pauses = LeastRecentlyUsed<RequestKey, Range<Date>>()

    /// Whether the server wants no request for a key now.
    ///
    /// A clock that is set back to before the pause ends it.
    func contains(_ key: RequestKey, now: Date) -> Bool {
        pauses.position(of: key).flatMap { pauses[$0] }?.contains(now) ?? false
    }

    /// Begins a pause in place of an earlier one of the same key, or ends it.
    mutating func take(_ advice: RenewalAdvice, about key: RequestKey) {
        switch advice {
        case .goOn: pauses.remove(key)
        case .wait(let pause):
            pauses.insert(pause, for: key, cost: 1)
            if pauses.count > Self.limit { pauses.removeOldest() }
        }
    }
}

/// The advice of a response about later requests for its resource.
enum RenewalAdvice: Equatable {
    /// The server has answered, so that no pause is left.
    case goOn
    /// The server wants no request from the arrival of its answer to this time.
    case wait(Range<Date>)

    /// Reads the advice of a response; nil for an error that says nothing.
    ///
    /// With a redirect, `Retry-After` is about the request to its target.
    init?(_ head: ResponseHead, now: Date) {
        guard head.statusCode >= 400 else {
            self = .goOn
            return
        }
        let delay = head.value(forHTTPHeaderField: "Retry-After").flatMap {
            RetryAfter.delay(
                $0,
                now: HTTPDate(nearestTo: now.timeIntervalSince1970),
                atMost: RequestedPauses.longest
            )
        }
        guard let delay else { return nil }
        self = .wait(now..<now + delay.inSeconds)
    }
}
