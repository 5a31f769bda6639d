import Foundation
import Synchronization
import WaystationStorage
import WaystationTesting

/// A tier that breaks one promise of the protocol.
struct FlawedTier: SharedTier {
    /// The promise that is broken, in the words of the check that must find it, with a note where several flaws break it.
    enum Flaw: CaseIterable {
        case losesValues, swapsValues, returnsTooMuch, keepsOldValue, removesAnyValue, removesNothing
        case ignoresLifetimes, ignoresLeaseLifetimes, ignoresTouch, onlyShortens, touchesNothing, touchesAnything
        case leasesToAll, leasesWithoutToken, overwritesLease, releasesForAnyCaller
        case losesMessages, losesLastMessage, swapsMessages, mixesChannels, repeatsMessages
        case repeatsNumbers, numbersAllChannelsTogether, skipsNumbers, beginsTooEarly, beginsTooLate
        case hangsAfterDeadline

        var rawValue: String {
            switch self {
            case .losesValues, .swapsValues:
                "a request for several keys returns their values in the order of the keys"
            case .returnsTooMuch: "a request for no keys returns no values"
            case .keepsOldValue: "a value is replaced"
            case .removesAnyValue: "another value is not removed"
            case .removesNothing: "values are removed"
            case .ignoresLifetimes, .ignoresTouch: "a value is removed at the end of its lifetime"
            case .ignoresLeaseLifetimes: "a lease ends at the end of its lifetime"
            case .onlyShortens: "a touch makes a lifetime longer"
            case .touchesNothing: "the key has a value"
            case .touchesAnything: "the key has no value"
            case .leasesToAll: "only one of several callers gets the lease"
            case .leasesWithoutToken, .overwritesLease: "the value of a lease is the token of its holder"
            case .releasesForAnyCaller: "it is still held"
            case .losesMessages, .losesLastMessage, .swapsMessages, .mixesChannels:
                "a subscriber gets all messages after its subscription"
            case .repeatsMessages: "a subscriber gets no message from before its subscription"
            case .repeatsNumbers, .numbersAllChannelsTogether: "numbers follow each other"
            case .skipsNumbers: "numbers follow each other also if they need not outlast a server"
            case .beginsTooEarly: "a subscription begins with the last number"
            case .beginsTooLate: "no message had the number of a channel without messages"
            case .hangsAfterDeadline: "get ends if its deadline has passed"
            }
        }
    }

    private let flaw: Flaw
    private let tier = InMemoryTier()
    private let sent = Sent()

    init(_ flaw: Flaw) { self.flaw = flaw }

    /// The messages that were published.
    private final class Sent: Sendable {
        let messages = Mutex<[(channel: TierKey, content: Data)]>([])
    }

    private static let long = Duration.seconds(600)
    private static let common = TierKey("all")

    func get(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?] {
        if flaw == .hangsAfterDeadline, deadline < .now {
            tier.behavior = .silent
            defer { tier.behavior = .working }
            return try await tier.get(keys, until: deadline)
        }
        if flaw == .returnsTooMuch, keys.isEmpty { return [nil] }
        let values = try await tier.get(keys, until: deadline)
        return flaw == .swapsValues ? values.reversed() : values
    }

    func put(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws {
        if flaw == .losesValues { return }
        let lifetime = flaw == .ignoresLifetimes ? Self.long : lifetime
        if flaw == .keepsOldValue {
            _ = try await tier.lease(value, at: key, for: lifetime, until: deadline)
            return
        }
        try await tier.put(value, at: key, for: lifetime, until: deadline)
    }

    func lease(
        _ value: Data,
        at key: TierKey,
        for lifetime: Duration,
        until deadline: ContinuousClock.Instant
    ) async throws -> Bool {
        let lifetime = flaw == .ignoresLeaseLifetimes ? Self.long : lifetime
        let token = flaw == .leasesWithoutToken ? Data() : value
        let isFirst = try await tier.lease(token, at: key, for: lifetime, until: deadline)
        if flaw == .overwritesLease, !isFirst { try await tier.put(value, at: key, for: lifetime, until: deadline) }
        return isFirst || flaw == .leasesToAll
    }

    func remove(_ key: TierKey, ifEqualTo value: Data?, until deadline: ContinuousClock.Instant) async throws {
        if flaw == .removesNothing { return }
        let isLease = key.name.hasSuffix(":lease")
        let removesAny = flaw == .removesAnyValue || (flaw == .releasesForAnyCaller && isLease)
        try await tier.remove(key, ifEqualTo: removesAny ? nil : value, until: deadline)
    }

    func touch(_ key: TierKey, for lifetime: Duration, until deadline: ContinuousClock.Instant) async throws -> Bool {
        let isIgnored = flaw == .ignoresTouch || (flaw == .onlyShortens && lifetime == Self.long)
        if isIgnored { return try await tier.get([key], until: deadline) != [nil] }
        let hasValue = try await tier.touch(key, for: lifetime, until: deadline)
        return flaw == .touchesAnything || (hasValue && flaw != .touchesNothing)
    }

    func publish(
        _ message: Data,
        on channel: TierKey,
        isDurable: Bool,
        until deadline: ContinuousClock.Instant
    ) async throws -> UInt64 {
        let count = sent.messages.withLock { sent in
            sent.append((channel, message))
            return UInt64(sent.count)
        }
        let silent = TierKey("silent")
        let isLost = flaw == .losesMessages || (flaw == .losesLastMessage && !isDurable)
        let target = isLost ? silent : flaw == .mixesChannels ? Self.common : channel
        let number = try await tier.publish(message, on: target, isDurable: isDurable, until: deadline)
        switch flaw {
        case .repeatsNumbers: return 1
        case .numbersAllChannelsTogether: return count
        case .skipsNumbers: return isDurable ? number : number + 1
        default: return number
        }
    }

    func subscribe(
        to channel: TierKey,
        until deadline: ContinuousClock.Instant
    ) async throws -> TierSubscription {
        let target = flaw == .mixesChannels ? Self.common : channel
        let made = try await tier.subscribe(to: target, until: deadline)
        switch flaw {
        case .beginsTooEarly: return TierSubscription(lastNumber: made.lastNumber &- 1, messages: made.messages)
        case .beginsTooLate: return TierSubscription(lastNumber: made.lastNumber + 1, messages: made.messages)
        case .repeatsMessages, .swapsMessages:
            let earlier = sent.messages.withLock { $0.filter { $0.channel == channel }.map(\.content) }
            return TierSubscription(
                lastNumber: made.lastNumber,
                messages: altered(made.messages, earlier.enumerated().map { TierMessage(UInt64($0) + 1, $1) })
            )
        default: return made
        }
    }

    /// The messages behind earlier ones, or each pair of them in the wrong order.
    private func altered(
        _ messages: AsyncThrowingStream<TierMessage, any Error>,
        _ earlier: [TierMessage]
    ) -> AsyncThrowingStream<TierMessage, any Error> {
        let (stream, continuation) = AsyncThrowingStream<TierMessage, any Error>.makeStream()
        if flaw == .repeatsMessages { for message in earlier { continuation.yield(message) } }
        let task = Task { [flaw] in
            var held: TierMessage?
            for try await message in messages {
                guard flaw == .swapsMessages, held == nil else {
                    continuation.yield(message)
                    if let last = held.take() { continuation.yield(last) }
                    continue
                }
                held = message
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

extension TierMessage {
    fileprivate init(_ number: UInt64, _ content: Data) { self.init(number: number, content: content) }
}
