public import Foundation
public import WaystationHTTP

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

/// Why an operation of a ``SharedTier`` did not work.
public struct TierError: CodedError, Hashable {
    /// The sort of failure.
    ///
    /// More sorts may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name: short and stable.
        public let description: String

        /// There is no connection to the tier.
        public static let unreachable = Code(description: "unreachable")
        /// The tier did not answer before the deadline.
        public static let late = Code(description: "late")
        /// The tier refused the operation, for instance because it is full or because its user lacks a permission.
        public static let refused = Code(description: "refused")
        /// The tier's answer cannot be understood.
        public static let malformed = Code(description: "malformed")
        /// The options of the tier have a mistake, such as a URL without a host.
        public static let misconfigured = Code(description: "misconfigured")
    }

    /// The sort of failure.
    public let code: Code

    /// The problem, and what can be done; it names no value.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message.shown(upTo: 1_000)
    }
}

/// A change in how a cache uses its ``SharedTier``, for logs and metrics.
public struct TierEvent: Sendable, CustomStringConvertible {
    /// The sort of event.
    ///
    /// More sorts may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name: short and stable, fit for a metric's label.
        public let description: String

        /// The tier failed or was slow several times: it is left alone for a while, and loads use the origin.
        public static let suspended = Kind(description: "suspended")
        /// The tier answers again, and is used again.
        public static let resumed = Kind(description: "resumed")
        /// The tier returned a value, or delivered a message, that is not this fleet's; it was not used.
        ///
        /// Such a value was removed.
        public static let damaged = Kind(description: "damaged")
        /// Messages of other machines may have been missed: all responses of this machine's own cache were removed.
        public static let missed = Kind(description: "missed")
        /// An invalidation has not reached the tier yet; until it does, this machine does not read from the tier.
        public static let delayed = Kind(description: "delayed")
    }

    /// The sort of event.
    public let kind: Kind

    /// The event and the reaction to it, as text; it contains no URL and no secret.
    public let detail: String

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail.shown(upTo: 2_000)
    }

    /// Kind and detail on one line.
    public var description: String { "\(kind): \(detail)" }
}

/// The name of a value or of a channel in a ``SharedTier``.
public struct TierKey: Hashable, Sendable, CustomStringConvertible {
    /// The name: printable ASCII without spaces, at most 200 bytes.
    public let name: String

    /// Makes a key of a name.
    public init(_ name: String) { self.name = name }

    /// The name.
    public var description: String { name }
}

/// A message of a channel of a ``SharedTier``.
public struct TierMessage: Hashable, Sendable {
    /// The number of the message in its channel.
    public let number: UInt64
    /// The content, as it was published.
    public let content: Data

    /// Makes a message.
    public init(number: UInt64, content: Data) {
        self.number = number
        self.content = content
    }
}

/// The messages of a channel from one moment on.
public struct TierSubscription: Sendable {
    /// The number of the last message before the first one of ``messages``.
    ///
    /// Messages up to this number may also be in ``messages``, because the subscription begins before the number is
    /// read. If the channel has had no message, or if the tier has lost the number, it is a number that no message has
    /// had.
    public let lastNumber: UInt64
    /// The messages; the stream ends, with or without an error, when the tier can no longer deliver all of them.
    public let messages: AsyncThrowingStream<TierMessage, any Error>

    /// Makes a subscription.
    public init(lastNumber: UInt64, messages: AsyncThrowingStream<TierMessage, any Error>) {
        self.lastNumber = lastNumber
        self.messages = messages
    }
}
