import Foundation
import Testing
public import WaystationSharing

/// Checks an implementation of ``WaystationSharing/SharedTier`` against the protocol's promises, within a test.
///
/// ```swift
/// try await SharedTierConformance(of: InMemoryTier()).check()
/// ```
public struct SharedTierConformance: Sendable {
    private let tier: any SharedTier
    private let patience: Duration
    private let prefix = "waystation:conformance:\(UUID().uuidString):"

    /// Makes the checks of a tier.
    ///
    /// - Parameters:
    ///   - tier: The tier; its values with names that begin with `waystation:conformance:` are changed.
    ///   - patience: The time that each call may take; a minute by default, which suits a busy machine.
    public init(of tier: any SharedTier, patience: Duration = .seconds(60)) {
        self.tier = tier
        self.patience = patience
    }

    /// Makes all checks; a promise that is broken is recorded as an issue of the test.
    ///
    /// - Throws: The error of a call that should have worked.
    public func check() async throws {
        try await checkValues()
        try await checkLifetimes()
        try await checkLeases()
        try await checkMessages()
        try await checkDeadlines()
    }

    private var deadline: ContinuousClock.Instant { .now + patience }

    private func key(_ name: String) -> TierKey { TierKey(prefix + name) }

    /// Values are returned as they were stored, whatever their bytes, and in the order of the keys.
    private func checkValues() async throws {
        let bytes = Data((0..<(256 * 1024)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let values = ["empty": Data(), "lines": Data("\r\n$-1\r\n".utf8), "zeros": Data(count: 3), "large": bytes]
        for (name, value) in values { try await tier.put(value, at: key(name), for: .seconds(600), until: deadline) }
        let names = ["large", "none", "lines", "empty", "zeros"]
        let read = try await tier.get(names.map(key), until: deadline)
        #expect(
            read == names.map { values[$0] },
            "a request for several keys returns their values in the order of the keys"
        )
        #expect(try await tier.get([], until: deadline) == [], "a request for no keys returns no values")
        try await tier.put(Data("new".utf8), at: key("lines"), for: .seconds(600), until: deadline)
        #expect(try await tier.get([key("lines")], until: deadline) == [Data("new".utf8)], "a value is replaced")
        try await tier.remove(key("lines"), ifEqualTo: Data("other".utf8), until: deadline)
        #expect(try await tier.get([key("lines")], until: deadline) != [nil], "another value is not removed")
        try await tier.remove(key("lines"), ifEqualTo: Data("new".utf8), until: deadline)
        try await tier.remove(key("large"), ifEqualTo: nil, until: deadline)
        try await tier.remove(key("none"), ifEqualTo: nil, until: deadline)
        let left = try await tier.get([key("lines"), key("large"), key("none")], until: deadline)
        #expect(left == [nil, nil, nil], "values are removed")
    }

    /// A value is gone at the end of its lifetime, and a touch sets the lifetime.
    private func checkLifetimes() async throws {
        try await tier.put(Data("1".utf8), at: key("long"), for: .seconds(600), until: deadline)
        try await tier.put(Data("2".utf8), at: key("short"), for: .milliseconds(1), until: deadline)
        #expect(try await tier.touch(key("long"), for: .milliseconds(1), until: deadline), "the key has a value")
        #expect(try await !tier.touch(key("nothing"), for: .seconds(600), until: deadline), "the key has no value")
        var left: [Data?] = [Data()]
        let end = deadline
        while left != [nil, nil], ContinuousClock.now < end {
            left = try await tier.get([key("long"), key("short")], until: deadline)
        }
        #expect(left == [nil, nil], "a value is removed at the end of its lifetime")
    }

    /// One of many callers gets a lease, and the next one after its end.
    private func checkLeases() async throws {
        let lease = key("lease")
        for round in 0..<3 {
            let owners = try await withThrowingTaskGroup(of: Data?.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let token = Data("\(round) \(number)".utf8)
                        return try await tier.lease(token, at: lease, for: .seconds(600), until: deadline) ? token : nil
                    }
                }
                return try await group.reduce(into: [Data]()) { if let token = $1 { $0.append(token) } }
            }
            #expect(owners.count == 1, "only one of several callers gets the lease")
            #expect(
                try await tier.get([lease], until: deadline).compactMap(\.self) == owners,
                "the value of a lease is the token of its holder"
            )
            try await tier.remove(lease, ifEqualTo: Data("another".utf8), until: deadline)
            #expect(try await !tier.lease(Data(), at: lease, for: .seconds(600), until: deadline), "it is still held")
            try await tier.remove(lease, ifEqualTo: owners.first, until: deadline)
        }
    }

    /// Subscribers get the messages of their channel in order, each with the next number.
    private func checkMessages() async throws {
        let channel = key("channel")
        let first = try await tier.subscribe(to: channel, until: deadline)
        let number = try await tier.publish(Data("a\r\n".utf8), on: channel, isDurable: true, until: deadline)
        let second = try await tier.subscribe(to: channel, until: deadline)
        #expect(second.lastNumber == number, "a subscription begins with the last number")
        #expect(first.lastNumber != number, "no message had the number of a channel without messages")
        _ = try await tier.publish(Data("other".utf8), on: key("other-channel"), isDurable: false, until: deadline)
        #expect(
            try await tier.publish(Data(), on: channel, isDurable: true, until: deadline) == number + 1,
            "numbers follow each other"
        )
        #expect(try await tier.publish(Data("c".utf8), on: channel, isDurable: false, until: deadline) == number + 2)
        let expected = [
            TierMessage(number: number, content: Data("a\r\n".utf8)),
            TierMessage(number: number + 1, content: Data()),
            TierMessage(number: number + 2, content: Data("c".utf8)),
        ]
        #expect(try await received(3, of: first) == expected, "a subscriber gets all messages after its subscription")
        #expect(
            try await received(2, of: second) == Array(expected.dropFirst()),
            "a subscriber gets no message from before its subscription"
        )
    }

    private func received(_ count: Int, of subscription: TierSubscription) async throws -> [TierMessage] {
        var messages: [TierMessage] = []
        for try await message in subscription.messages where message.number > 0 {
            messages.append(message)
            if messages.count == count { break }
        }
        return messages
    }

    /// A call whose deadline has passed ends.
    private func checkDeadlines() async throws {
        let past = ContinuousClock.now - .seconds(1)
        // A call whose deadline has passed may still work: the answer may have been there at once.
        _ = try? await tier.get([key("late")], until: past)
        _ = try? await tier.put(Data(), at: key("late"), for: .seconds(1), until: past)
    }
}
