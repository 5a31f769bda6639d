public import Foundation

/// A store of values that several machines share: the tier of a response cache between each machine's disk and the
/// origin.
///
/// A tier may lose any value at any time, and several machines use it at once. It knows neither responses nor URLs: keys
/// are hashes, and values are sealed. `SharedTierConformance` in WaystationTesting checks an implementation of it.
///
/// Each method throws at its deadline at the latest; a caller waits no longer than that in any case. A cancelled call
/// may throw earlier. Methods are called from any thread, many at a time.
public protocol SharedTier: Sendable {
    /// Returns the values of keys, in their order; nil where a key has none.
    ///
    /// The values of different keys may be of different moments.
    ///
    /// - Throws: Any error, such as a ``TierError``, when the tier did not answer.
    func get(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?]

    /// Stores a value, in place of the present one.
    ///
    /// - Parameters:
    ///   - value: The value; the tier may refuse one that is too large for it.
    ///   - key: The key.
    ///   - lifetime: The time after which the tier removes the value; at least a millisecond.
    ///   - deadline: The time at which the call ends.
    /// - Throws: Any error, when the value may not be stored.
    func put(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws

    /// Stores a value if the key has none, in one step: of several callers, one at most gets true.
    ///
    /// - Returns: Whether this call has stored the value.
    /// - Throws: Any error, when it is unknown whether the value is stored.
    func lease(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool

    /// Removes the value of a key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - value: If it is not nil, the value is removed only if it equals this one, in one step.
    ///   - deadline: The time at which the call ends.
    /// - Throws: Any error, when the value may still be there.
    func remove(_ key: TierKey, ifEqualTo value: Data?, until deadline: ContinuousClock.Instant) async throws

    /// Gives a value a new lifetime, from now.
    ///
    /// - Returns: Whether the key has a value.
    /// - Throws: Any error, when the lifetime may not have changed.
    func touch(_ key: TierKey, for lifetime: Duration, until deadline: ContinuousClock.Instant) async throws -> Bool

    /// Sends a message to all present subscribers of a channel, and gives it the channel's next number, in one step.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - channel: The channel.
    ///   - isDurable: Whether the number must outlast the failure of one of the tier's servers. Without that, the call
    ///     need not wait for servers that keep copies.
    ///   - deadline: The time at which the call ends.
    /// - Returns: The number of the message: one more than that of the last message. If the tier has lost the last
    ///   number, the message gets one that no earlier durable message had.
    /// - Throws: Any error, when it is unknown whether the message was sent.
    func publish(
        _ message: Data,
        on channel: TierKey,
        isDurable: Bool,
        until deadline: ContinuousClock.Instant
    ) async throws -> UInt64

    /// Begins to receive the messages of a channel.
    ///
    /// - Throws: Any error, when the subscription could not be made.
    func subscribe(to channel: TierKey, until deadline: ContinuousClock.Instant) async throws -> TierSubscription
}
