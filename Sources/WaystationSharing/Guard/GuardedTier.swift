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
