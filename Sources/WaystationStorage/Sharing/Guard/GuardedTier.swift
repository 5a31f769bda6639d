package import Foundation
import Synchronization

/// A tier whose calls take a bounded time, and which is left alone while it does not work.
///
/// No call throws: a tier that did not answer has no result. A call ends at its time limit even if the tier's own code
/// does not, unless the tier is a ``PunctualTier``.
package final class GuardedTier: Sendable {
    package typealias Schedule = @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void

    /// The sorts of calls; each has a circuit of its own, since a tier that is full can still be read.
    package enum Side: Int, CaseIterable, Sendable {
        case reading, writing, messages

        fileprivate var name: String {
            switch self {
            case .reading: "reads"
            case .writing: "writes"
            case .messages: "messages"
            }
        }
    }

    /// The executor for look-ups in the tier; nil for the one that all tasks have, if the tier is not punctual.
    package let executor: (any TaskExecutor)?
    private let tier: any SharedTier
    private let limit: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let schedule: Schedule
    private let report: @Sendable (TierEvent) -> Void
    private let breakers = Mutex(Side.allCases.map { _ in CircuitBreaker() })

    /// Guards a tier.
    ///
    /// - Parameters:
    ///   - tier: The tier.
    ///   - limit: The time after which a call is given up; one that takes half of it counts as slow.
    ///   - now: The clock.
    ///   - schedule: Runs an action after a delay.
    ///   - report: Gets the events.
    package init(
        _ tier: any SharedTier,
        limit: Duration,
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        schedule: @escaping Schedule,
        report: @escaping @Sendable (TierEvent) -> Void
    ) {
        self.tier = tier
        executor = (tier as? any PunctualTier)?.executor
        self.limit = limit
        self.now = now
        self.schedule = schedule
        self.report = report
    }

    /// Whether the circuit of a side is closed.
    package func works(_ side: Side) -> Bool { breakers.withLock { $0[side.rawValue].isClosed } }

    /// The values of keys; nil if the tier was not asked, or did not answer.
    package func get(_ keys: [TierKey]) async -> [Data?]? {
        let values = await perform(.reading) { try await $0.get(keys, until: $1) }
        // A tier with an answer too few could put a value at another key's place.
        return values?.count == keys.count ? values : nil
    }

    /// Stores a value; returns whether the tier has confirmed it.
    package func put(_ value: Data, at key: TierKey, for lifetime: Duration) async -> Bool {
        await perform(.writing) { try await $0.put(value, at: key, for: lifetime, until: $1) } != nil
    }

    /// Stores a value if the key has none; nil if that is unknown.
    package func lease(_ value: Data, at key: TierKey, for lifetime: Duration) async -> Bool? {
        await perform(.writing) { try await $0.lease(value, at: key, for: lifetime, until: $1) }
    }

    /// Gives a value a new lifetime; nil if that is unknown.
    @discardableResult
    package func touch(_ key: TierKey, for lifetime: Duration) async -> Bool? {
        await perform(.writing) { try await $0.touch(key, for: lifetime, until: $1) }
    }

    /// Removes a value; returns whether the tier has confirmed it.
    @discardableResult
    package func remove(_ key: TierKey, ifEqualTo value: Data? = nil) async -> Bool {
        await perform(.messages) { try await $0.remove(key, ifEqualTo: value, until: $1) } != nil
    }

    /// Sends a message; nil if it may not have been sent.
    package func publish(_ message: Data, on channel: TierKey, isDurable: Bool) async -> UInt64? {
        await perform(.messages) { try await $0.publish(message, on: channel, isDurable: isDurable, until: $1) }
    }

    /// Begins to receive messages; nil if that is not possible now.
    package func subscribe(to channel: TierKey) async -> TierSubscription? {
        await perform(.messages, within: max(limit, Self.subscribing)) {
            try await $0.subscribe(to: channel, until: $1)
        }
    }

    /// The time that a subscription has at least: it makes a connection of its own, and no load waits for it.
    private static let subscribing = Duration.seconds(5)

    private func perform<Value: Sendable>(
        _ side: Side,
        within other: Duration? = nil,
        _ call: @escaping @Sendable (any SharedTier, ContinuousClock.Instant) async throws -> Value
    ) async -> Value? {
        let limit = other ?? limit
        let begin = now()
        guard let admission = breakers.withLock({ $0[side.rawValue].admit(at: begin) }) else { return nil }
        let deadline = begin + limit
        let result =
            executor == nil
            ? await raced(within: limit) { [tier] in try await call(tier, deadline) }
            : await Self.result { try await call(tier, deadline) }
        let end = now()
        let problem: String?
        switch result {
        case .success: problem = (end - begin) * 2 > limit ? "an answer took \(end - begin)" : nil
        case .failure(let error): problem = "\(error)"
        }
        let change = breakers.withLock { $0[side.rawValue].end(admission, isGood: problem == nil, at: end) }
        switch change {
        case .opened(let pause): report(TierEvent(.suspended, "no \(side.name) for \(pause): \(problem ?? "")"))
        case .closed: report(TierEvent(.resumed, "\(side.name) work again"))
        case nil: break
        }
        return try? result.get()
    }

    private static func result<Value>(of call: () async throws -> Value) async -> Result<Value, any Error> {
        do {
            return .success(try await call())
        } catch {
            return .failure(error)
        }
    }

    /// The result of a call, or its failure at the time limit.
    private func raced<Value: Sendable>(
        within limit: Duration,
        _ call: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        await withCheckedContinuation { continuation in
            let race = Race(continuation)
            let task = Task { race.finish(await Self.result(of: call)) }
            schedule(limit) {
                if race.finish(.failure(TierError(.late, "no answer within \(limit)"))) { task.cancel() }
            }
        }
    }
}

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

/// A result that several parties may deliver; the first one counts.
package final class Race<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    package init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = Mutex(continuation) }

    /// Delivers a result.
    ///
    /// - Returns: Whether it was the first one.
    @discardableResult
    package func finish(_ value: Value) -> Bool {
        let first = continuation.withLock { $0.take() }
        first?.resume(returning: value)
        return first != nil
    }
}

/// A tier that needs no one to watch its deadlines, because each of its calls ends by itself at its deadline.
///
/// ``GuardedTier`` calls it without a task and a timer of its own.
package protocol PunctualTier: SharedTier {
    /// Runs the look-ups in the tier, on the thread on which replies arrive.
    ///
    /// So a look-up changes threads only to begin and to end. Code of the app and work that waits for a disk must not run
    /// there.
    var executor: any TaskExecutor { get }

    /// Expects no values above a size, in bytes; of several calls, the largest size counts.
    ///
    /// A larger value is not read. The tier removes it, and returns an empty one in its place.
    func expectValues(upTo size: Int)
}
