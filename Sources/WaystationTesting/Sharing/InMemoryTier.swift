public import Foundation
import Synchronization
public import WaystationStorage

/// A tier in the memory of the process, for tests: several caches that name it share their responses.
///
/// A test can change how the tier behaves, and look at its values. All members may be called from any thread.
public final class InMemoryTier: SharedTier {
    /// How the tier treats calls.
    public enum Behavior: Sendable {
        /// As a tier should.
        case working
        /// Each call fails at once.
        case down
        /// No call ends before its deadline, and then only if it is cancelled.
        case silent
        /// Nothing new is stored; everything else works.
        case full
        /// Each value that is read is changed first.
        case lying(@Sendable (Data) -> Data)
    }

    fileprivate struct Value {
        var data: Data
        var end: ContinuousClock.Instant
    }

    private struct State {
        var behavior = Behavior.working
        var values: [TierKey: Value] = [:]
        var reads = 0
        var numbers: [TierKey: UInt64] = [:]
        var subscribers: [TierKey: [UUID: AsyncThrowingStream<TierMessage, any Error>.Continuation]] = [:]
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// Makes an empty tier.
    ///
    /// - Parameter now: The clock by which lifetimes end.
    public init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// How the tier treats the calls that follow; `.working` at first.
    public var behavior: Behavior {
        get { state.withLock(\.behavior) }
        set { state.withLock { $0.behavior = newValue } }
    }

    /// The present values.
    public var values: [TierKey: Data] {
        let time = now()
        return state.withLock { $0.values.filter { $0.value.end > time }.mapValues(\.data) }
    }

    /// The number of calls of ``get(_:until:)`` so far: each load that asks the tier reads.
    public var reads: Int { state.withLock(\.reads) }

    /// The number of subscribers of all channels.
    public var subscriberCount: Int { state.withLock { $0.subscribers.values.reduce(0) { $0 + $1.count } } }

    /// Removes values, as a tier does that is full.
    public func evict(where isEvicted: (TierKey, Data) -> Bool) {
        state.withLock { state in state.values = state.values.filter { !isEvicted($0.key, $0.value.data) } }
    }

    /// Loses all values and the numbers of all channels, as a server does that is started again.
    public func restart() {
        state.withLock { state in
            state.values = [:]
            state.numbers = state.numbers.mapValues { $0 + 1_000 }
        }
    }

    /// The values and numbers of a moment.
    package struct Snapshot: Sendable {
        fileprivate let values: [TierKey: Value]
        fileprivate let numbers: [TierKey: UInt64]
    }

    /// The present values and numbers.
    package var snapshot: Snapshot { state.withLock { Snapshot(values: $0.values, numbers: $0.numbers) } }

    /// Has the values and numbers of an earlier moment again, as a server does that is started again after a crash.
    package func restart(from snapshot: Snapshot) {
        state.withLock { ($0.values, $0.numbers) = (snapshot.values, snapshot.numbers) }
    }

    /// Puts a value in place of one that is there.
    public func replace(_ key: TierKey, with data: Data) { state.withLock { $0.values[key]?.data = data } }

    /// Ends all subscriptions, as a connection does that is lost.
    public func disconnect() {
        let lost = state.withLock { state in
            defer { state.subscribers = [:] }
            return state.subscribers.values.flatMap(\.values)
        }
        for subscriber in lost { subscriber.finish(throwing: TierError(.unreachable, "the test ended the connection")) }
    }

    /// Returns the values of keys, in their order; nil where a key has none.
    public func get(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?] {
        state.withLock { $0.reads += 1 }
        let lie = try await admit(until: deadline)
        let time = now()
        return state.withLock { state in
            keys.map { key in state.values[key].flatMap { $0.end > time ? $0.data : nil } }
        }.map { $0.map(lie) }
    }

    /// Stores a value, in place of the present one.
    public func put(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws {
        try await admitWriting(until: deadline)
        let end = now() + lifetime
        state.withLock { $0.values[key] = Value(data: value, end: end) }
    }

    /// Stores a value if the key has none, in one step.
    public func lease(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        try await admitWriting(until: deadline)
        let time = now()
        return state.withLock { state in
            if let present = state.values[key], present.end > time { return false }
            state.values[key] = Value(data: value, end: time + lifetime)
            return true
        }
    }

    /// Removes the value of a key, or only if it equals another value.
    public func remove(
        _ key: TierKey,
        ifEqualTo value: Data?,
        until deadline: ContinuousClock.Instant
    ) async throws {
        _ = try await admit(until: deadline)
        state.withLock { if value == nil || $0.values[key]?.data == value { $0.values[key] = nil } }
    }

    /// Gives a value a new lifetime; returns whether the key has a value.
    public func touch(
        _ key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        _ = try await admit(until: deadline)
        let time = now()
        return state.withLock { state in
            guard let value = state.values[key], value.end > time else { return false }
            state.values[key]?.end = time + lifetime
            return true
        }
    }

    /// Sends a message to the subscribers of a channel, and returns its number.
    public func publish(
        _ message: Data,
        on channel: TierKey,
        isDurable: Bool,
        until deadline: ContinuousClock.Instant
    ) async throws -> UInt64 {
        try await admitWriting(until: deadline)
        return state.withLock { state in
            let number = state.numbers[channel, default: 0] + 1
            state.numbers[channel] = number
            // Messages are sent under the lock, so that every subscriber gets them in the order of their numbers.
            for subscriber in (state.subscribers[channel] ?? [:]).values {
                subscriber.yield(TierMessage(number: number, content: message))
            }
            return number
        }
    }

    /// Begins to receive the messages of a channel.
    public func subscribe(
        to channel: TierKey,
        until deadline: ContinuousClock.Instant
    ) async throws -> TierSubscription {
        _ = try await admit(until: deadline)
        let (messages, continuation) = AsyncThrowingStream<TierMessage, any Error>.makeStream()
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.subscribers[channel]?[id] = nil }
        }
        let last = state.withLock { state in
            state.subscribers[channel, default: [:]][id] = continuation
            let last = state.numbers[channel, default: 0]
            state.numbers[channel] = last
            return last
        }
        return TierSubscription(lastNumber: last, messages: messages)
    }

    private func admitWriting(until deadline: ContinuousClock.Instant) async throws {
        _ = try await admit(until: deadline)
        if case .full = behavior { throw TierError(.refused, "the tier is full") }
    }

    /// Treats a call by the present behaviour.
    ///
    /// - Returns: The change of values that are read.
    private func admit(until deadline: ContinuousClock.Instant) async throws -> @Sendable (Data) -> Data {
        switch behavior {
        case .working, .full: return { $0 }
        case .down: throw TierError(.unreachable, "the tier is down")
        case .lying(let change): return change
        case .silent:
            // Only a cancel ends the wait.
            try? await Task.sleep(for: .seconds(86_400))
            throw TierError(.late, "the tier did not answer")
        }
    }
}
