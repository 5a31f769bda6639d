import Foundation
import WaystationStorage

/// A tier that passes its calls on to another one, but for those that it answers itself.
protocol TierWrapper: SharedTier {
    associatedtype Wrapped: SharedTier
    var tier: Wrapped { get }
}

extension TierWrapper {
    func get(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?] {
        try await tier.get(keys, until: deadline)
    }

    func put(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws {
        try await tier.put(value, at: key, for: lifetime, until: deadline)
    }

    func lease(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        try await tier.lease(value, at: key, for: lifetime, until: deadline)
    }

    func remove(_ key: TierKey, ifEqualTo value: Data?, until deadline: ContinuousClock.Instant) async throws {
        try await tier.remove(key, ifEqualTo: value, until: deadline)
    }

    func touch(_ key: TierKey, for lifetime: Duration, until deadline: ContinuousClock.Instant) async throws -> Bool {
        try await tier.touch(key, for: lifetime, until: deadline)
    }

    func publish(
        _ message: Data,
        on channel: TierKey,
        isDurable: Bool,
        until deadline: ContinuousClock.Instant
    ) async throws -> UInt64 {
        try await tier.publish(message, on: channel, isDurable: isDurable, until: deadline)
    }

    func subscribe(
        to channel: TierKey,
        until deadline: ContinuousClock.Instant
    ) async throws -> TierSubscription {
        try await tier.subscribe(to: channel, until: deadline)
    }
}
