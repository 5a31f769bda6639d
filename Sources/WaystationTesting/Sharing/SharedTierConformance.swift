import Foundation
import Testing
public import WaystationStorage

/// Checks an implementation of ``WaystationStorage/SharedTier`` against the protocol's promises, within a test.
///
/// ```swift
/// try await SharedTierConformance(of: InMemoryTier()).check()
/// ```
///
/// A tier whose servers answer could ignore its deadlines, and ``check()`` would not notice. ``checkDeadlines()`` finds
/// that out while they do not answer.
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
        for (name, call) in calls(until: .now - .seconds(1)) {
            // The call may work all the same: the answer may have been there at once.
            let outcome = await outcome(of: call)
            #expect(outcome != nil, "\(name) ends if its deadline has passed")
        }
    }

    /// Checks that each call fails at its deadline while the tier cannot answer; call it then, for instance while the
    /// process of the tier's server is stopped.
    ///
    /// A call that has not ended at its deadline and the patience after it is recorded as an issue of the test, and
    /// cancelled.
    public func checkDeadlines() async {
        for (name, _) in calls(until: .now) {
            // Each call has its own deadline, so that the time of an earlier one is not part of it.
            for (other, call) in calls(until: .now + .milliseconds(20)) where other == name {
                switch await outcome(of: call) {
                case .failure: break
                case .success: Issue.record("\(name) worked: make the tier unable to answer during this check")
                case nil: Issue.record("\(name) does not end at its deadline")
                }
            }
        }
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
        _ = try await tier.lease(Data("dead".utf8), at: key("lost"), for: .milliseconds(1), until: deadline)
        var isHeld = true
        while isHeld, ContinuousClock.now < end {
            isHeld = try await !tier.lease(Data("next".utf8), at: key("lost"), for: .seconds(600), until: deadline)
        }
        #expect(!isHeld, "a lease ends at the end of its lifetime")
        try await checkLongerLifetime()
    }

    /// A value whose lifetime was made longer is still there when another one, with the earlier lifetime, is gone.
    private func checkLongerLifetime() async throws {
        var lifetime = Duration.milliseconds(20)
        let end = deadline
        try await tier.put(Data("1".utf8), at: key("longer"), for: lifetime, until: deadline)
        // On a slow machine, the lifetime may end before the touch.
        while try await !tier.touch(key("longer"), for: .seconds(600), until: deadline), ContinuousClock.now < end {
            lifetime = min(lifetime * 2, .seconds(1))
            try await tier.put(Data("1".utf8), at: key("longer"), for: lifetime, until: deadline)
        }
        try await tier.put(Data("2".utf8), at: key("other"), for: lifetime, until: deadline)
        while try await tier.get([key("other")], until: deadline) != [nil], ContinuousClock.now < end {}
        #expect(
            try await tier.get([key("longer")], until: deadline) == [Data("1".utf8)],
            "a touch makes a lifetime longer"
        )
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
        #expect(
            try await tier.publish(Data("c".utf8), on: channel, isDurable: false, until: deadline) == number + 2,
            "numbers follow each other also if they need not outlast a server"
        )
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

    /// The first messages of a subscription; fewer if they do not arrive within the patience.
    private func received(_ count: Int, of subscription: TierSubscription) async throws -> [TierMessage] {
        let reading = Task {
            var messages: [TierMessage] = []
            for try await message in subscription.messages where message.number > 0 {
                messages.append(message)
                if messages.count == count { break }
            }
            return messages
        }
        let timer = Task { [patience] in
            try await Task.sleep(for: patience)
            reading.cancel()
        }
        defer { timer.cancel() }
        return try await reading.value
    }

    /// A call of each method.
    private func calls(
        until deadline: ContinuousClock.Instant
    ) -> KeyValuePairs<String, @Sendable () async throws -> Void> {
        let (tier, place, channel) = (tier, key("late"), key("late-channel"))
        return [
            "get": { _ = try await tier.get([place], until: deadline) },
            "put": { try await tier.put(Data(), at: place, for: .seconds(1), until: deadline) },
            "lease": { _ = try await tier.lease(Data(), at: place, for: .seconds(1), until: deadline) },
            "touch": { _ = try await tier.touch(place, for: .seconds(1), until: deadline) },
            "remove": { try await tier.remove(place, ifEqualTo: Data([1]), until: deadline) },
            "publish": { _ = try await tier.publish(Data(), on: channel, isDurable: true, until: deadline) },
            "subscribe": { _ = try await tier.subscribe(to: channel, until: deadline) },
        ]
    }

    /// The end of a call; nil if it has not ended when the patience has.
    private func outcome(of call: @escaping @Sendable () async throws -> Void) async -> Result<Void, any Error>? {
        let task = Task { try await call() }
        var timer: Task<Void, any Error>?
        defer { timer?.cancel() }
        return await withCheckedContinuation { continuation in
            let race = Race(continuation)
            Task { race.finish(await task.result) }
            timer = Task { [patience] in
                try await Task.sleep(for: patience)
                if race.finish(nil) { task.cancel() }
            }
        }
    }
}
