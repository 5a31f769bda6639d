package import Foundation
import Synchronization
import WaystationStorage

/// The invalidations of other machines, applied to this machine's store in their order.
final class SharedSequence: Sendable {
    enum Content {
        case own
        case other(SharedScope)
        /// The message was not sealed with this fleet's secret, so its number may be invented.
        case foreign
    }

    private let file: SequenceFile
    private let state: Mutex<MessageSequence>
    private let removals = Mutex(Removals())

    init(_ file: SequenceFile) {
        self.file = file
        state = Mutex(MessageSequence(last: file.read()))
    }

    func begin(
        after number: UInt64,
        _ store: ResponseStore,
        _ report: @escaping @Sendable (TierEvent) -> Void
    ) -> MessageSequence.Beginning {
        let beginning = state.withLock { $0.begin(after: number) }
        if beginning != .complete { dropAll(before: number, store, report) }
        return beginning
    }

    func receive(
        _ number: UInt64,
        _ content: Content,
        _ store: ResponseStore,
        _ report: @escaping @Sendable (TierEvent) -> Void
    ) {
        let scope: SharedScope?
        switch content {
        case .own: scope = nil
        case .other(let other): scope = other
        case .foreign:
            let detail = "a message with the number \(number) was ignored: it is not this fleet's"
            return report(TierEvent(.damaged, detail))
        }
        switch state.withLock({ $0.receive(number) }) {
        case .ignore: break
        case .missed: dropAll(before: number, store, report)
        case .apply:
            removals.withLock { $0.begin() }
            guard let scope else {
                // The store was asked to remove the responses before the message was sent; nothing more is removed.
                return store.remove([]) { [store] in self.note(number, $0, in: store) }
            }
            scope.invalidate(in: store) { [store] in self.note(number, $0, in: store) }
        }
    }

    private func dropAll(
        before number: UInt64,
        _ store: ResponseStore,
        _ report: @escaping @Sendable (TierEvent) -> Void
    ) {
        removals.withLock { $0.begin() }
        store.invalidate(.all) { [store] removed in
            self.note(number, removed, in: store)
            guard case .success(let count) = removed, count > 0 else { return }
            report(TierEvent(.missed, "invalidations may have been missed: \(count) responses were removed here"))
        }
    }

    /// Keeps the number once its effect outlasts a power cut: otherwise the number could be on the storage medium
    /// without it.
    ///
    /// Called on the store's write queue.
    private func note(_ number: UInt64, _ result: Result<Int, StoreError>, in store: ResponseStore) {
        let isDone = if case .success = result { true } else { false }
        guard let due = removals.withLock({ $0.end(number, isDone: isDone) }) else { return }
        // If this fails, the store reports it, and the next removal makes up for it.
        do { try store.synchronize() } catch { return }
        file.write(due)
        removals.withLock { $0.unwritten = 0 }
    }
}

/// The removals that are on their way, and the number to keep when they are made.
///
/// Removals that follow each other quickly wait for the storage medium together.
private struct Removals {
    private static let maximumUnwritten = 256

    private var unfinished = 0
    /// The number of the last removal that was made.
    private var number: UInt64?
    /// How many removals were made since the number was last written.
    var unwritten = 0

    mutating func begin() { unfinished += 1 }

    /// Ends a removal.
    ///
    /// - Returns: The number to write now, if it is time for that.
    mutating func end(_ number: UInt64, isDone: Bool) -> UInt64? {
        unfinished -= 1
        if isDone {
            self.number = number
            unwritten += 1
        }
        guard unfinished == 0 || unwritten >= Self.maximumUnwritten, unwritten > 0 else { return nil }
        return self.number
    }
}

/// The numbers of the messages that a machine has received: finds out whether it may have missed one.
struct MessageSequence: Sendable {
    enum Step: Hashable, Sendable {
        /// The message is the next one.
        case apply
        /// The message was received before.
        case ignore
        /// Messages before this one were missed.
        case missed
    }

    enum Beginning: Hashable, Sendable {
        /// No message was missed.
        case complete
        /// Messages may have been missed.
        case missed
        /// The number is one that the tier had before: the tier has lost what it got since then.
        case setBack
    }

    /// The number of the last message whose effect is complete; nil if it is unknown.
    private(set) var last: UInt64?
    /// Whether the last number is one of this tier, and not one of an earlier run, which may have used another tier.
    private var isOfTier = false

    init(last: UInt64?) { self.last = last }

    /// A subscription has begun.
    ///
    /// - Parameter number: The number of the last message before it.
    /// - Returns: How this number follows the last one.
    mutating func begin(after number: UInt64) -> Beginning {
        defer { (last, isOfTier) = (number, true) }
        guard let last, last != number else { return last == nil ? .missed : .complete }
        return number < last && isOfTier ? .setBack : .missed
    }

    /// A message has arrived.
    mutating func receive(_ number: UInt64) -> Step {
        guard let last else {
            self.last = number
            return .missed
        }
        guard number > last else { return .ignore }
        self.last = number
        return number - last == 1 ? .apply : .missed
    }
}

/// The file that keeps the number of the last invalidation of a fleet that a cache has carried out.
///
/// It holds the number in decimal digits. Without it, everything that is stored may be outdated.
package struct SequenceFile: Sendable {
    private let url: URL

    /// Names the file in the directory of a cache.
    package init(in directory: URL) { url = directory.appending(path: "shared.sequence") }

    func read() -> UInt64? {
        guard let data = try? Data(readingFile: url, limit: 20) else { return nil }
        return UInt64(String(decoding: data, as: UTF8.self))
    }

    /// Replaces the number; if that fails, the next run removes what is stored.
    func write(_ number: UInt64) {
        guard (try? Data("\(number)".utf8).write(to: url, options: .atomic)) != nil else {
            try? FileManager.default.removeItem(at: url)
            return
        }
        try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }
}

/// The loads that wait until another machine has stored a response.
final class Arrivals: Sendable {
    private struct State {
        var isFollowed = false
        var expected: [TierKey: [Expectation]] = [:]
    }

    private let state = Mutex(State())

    /// Whether arrivals are reported at present.
    var isFollowed: Bool { state.withLock(\.isFollowed) }

    /// The number of entries whose arrival is expected.
    var expectedCount: Int { state.withLock(\.expected.count) }

    /// Records whether arrivals are reported; all waits end when they no longer are.
    func follow(_ isFollowed: Bool) {
        let ended = state.withLock { state in
            state.isFollowed = isFollowed
            guard !isFollowed else { return [Expectation]() }
            defer { state.expected = [:] }
            return state.expected.values.flatMap(\.self)
        }
        for expectation in ended { expectation.end() }
    }

    /// Expects the arrival of an entry.
    func expect(_ entry: TierKey) -> Expectation {
        let expectation = Expectation()
        state.withLock { $0.expected[entry, default: []].append(expectation) }
        return expectation
    }

    /// An entry has arrived, or its lease has ended.
    func arrived(_ entry: TierKey) {
        let ended = state.withLock { $0.expected.removeValue(forKey: entry) } ?? []
        for expectation in ended { expectation.end() }
    }

    /// Waits for an expected arrival, which is then no longer expected.
    func wait(for expectation: Expectation, of entry: TierKey) async {
        await expectation.wait()
        forget(expectation, of: entry)
    }

    /// Expects an arrival no longer.
    func forget(_ expectation: Expectation, of entry: TierKey) {
        state.withLock { state in
            state.expected[entry]?.removeAll { $0 === expectation }
            if state.expected[entry]?.isEmpty ?? false { state.expected[entry] = nil }
        }
    }
}

/// A wait for one event, which also notices the event before the wait begins.
final class Expectation: Sendable {
    private struct State {
        var isOver = false
        var waiter: Race<Void>?
    }

    private let state = Mutex(State())

    /// Ends the wait.
    func end() {
        let waiter: Race<Void>? = state.withLock { state in
            state.isOver = true
            return state.waiter.take()
        }
        waiter?.finish(())
    }

    /// Returns when the wait has been ended; only one caller may wait.
    func wait() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let race = Race(continuation)
            let isOver = state.withLock { state in
                if !state.isOver { state.waiter = race }
                return state.isOver
            }
            if isOver { race.finish(()) }
        }
    }
}
