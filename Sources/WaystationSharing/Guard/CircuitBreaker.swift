/// Decides whether a tier is asked, by how its last calls ended: a state machine without side effects.
///
/// Of the last 20 calls, 5 that failed or were slow open the circuit: no call is admitted for a while. Then one call is
/// admitted. If it works, the circuit closes; otherwise the next pause is twice as long, up to 30 s.
package struct CircuitBreaker: Sendable {
    /// The permission for one call, which reports its end with it.
    package struct Admission: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// A change that an outcome causes.
    package enum Change: Hashable, Sendable {
        /// No calls are admitted for this time.
        case opened(pause: Duration)
        /// Calls are admitted again.
        case closed
    }

    private enum Phase {
        case closed
        case open(until: ContinuousClock.Instant)
        /// One call is under way; if it is not back at this time, another one is admitted.
        case probing(Admission, until: ContinuousClock.Instant)
    }

    package static let window = 20
    package static let tolerated = 4
    package static let shortestPause = Duration.seconds(1)
    package static let longestPause = Duration.seconds(30)

    private var phase = Phase.closed
    private var pause = shortestPause
    /// The outcomes of the last calls, the newest in the lowest bit: 1 for a failure.
    private var history: UInt32 = 0
    private var count: UInt64 = 0

    package init() {}

    /// Whether the tier may be asked without a first trial.
    package var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// Asks for a call; nil if the tier must not be asked now.
    package mutating func admit(at now: ContinuousClock.Instant) -> Admission? {
        switch phase {
        case .closed: break
        case .open(let end), .probing(_, let end): guard now >= end else { return nil }
        }
        count += 1
        let admission = Admission(number: count)
        if !isClosed { phase = .probing(admission, until: now + pause) }
        return admission
    }

    /// Reports the end of a call.
    ///
    /// - Parameters:
    ///   - admission: The call's permission.
    ///   - isGood: Whether the call worked, and in good time.
    ///   - now: The present time.
    /// - Returns: The change that follows, if any.
    package mutating func end(_ admission: Admission, isGood: Bool, at now: ContinuousClock.Instant) -> Change? {
        switch phase {
        case .closed:
            history = (history << 1 | (isGood ? 0 : 1)) & ((1 << Self.window) - 1)
            guard history.nonzeroBitCount > Self.tolerated else { return nil }
            pause = Self.shortestPause
            return open(at: now)
        // Calls that began before the circuit opened say nothing about the tier's present state.
        case .open: return nil
        case .probing(let probe, _):
            guard probe == admission else { return nil }
            guard isGood else {
                pause = min(pause * 2, Self.longestPause)
                return open(at: now)
            }
            history = 0
            phase = .closed
            return .closed
        }
    }

    private mutating func open(at now: ContinuousClock.Instant) -> Change {
        history = 0
        phase = .open(until: now + pause)
        return .opened(pause: pause)
    }
}
