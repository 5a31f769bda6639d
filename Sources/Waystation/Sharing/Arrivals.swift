import Synchronization
import WaystationSharing

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
