import Foundation
import Measuring
import Synchronization

/// Counts how the loads of one process ended, and prints the counts every 500 loads.
///
/// The line is `loads HITS FETCHED FAILED CANCELLED`.
final class Results: Sendable {
    private struct State {
        var begun = 0
        var open: [Int: (url: URL, since: ContinuousClock.Instant)] = [:]
        var counts = Counts()
        var isWrong = false
        var hasEnded = false

        mutating func takeCounts() -> String {
            defer { counts = Counts() }
            return counts.line
        }
    }

    struct Counts: Sendable {
        var hits = 0
        var fetched = 0
        var failed = 0
        var cancelled = 0

        var total: Int { hits + fetched + failed + cancelled }
        var line: String { "loads \(hits) \(fetched) \(failed) \(cancelled)" }
    }

    private let state = Mutex(State())

    var isWrong: Bool { state.withLock(\.isWrong) }
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    func begin(_ url: URL) -> Int {
        state.withLock { state in
            state.begun += 1
            state.open[state.begun] = (url, .now)
            return state.begun
        }
    }

    func end(_ order: Int, _ verdict: Verdict, _ url: URL) {
        let line = state.withLock { state -> String? in
            state.open[order] = nil
            switch verdict {
            case .hit: state.counts.hits += 1
            case .fetched: state.counts.fetched += 1
            case .failed: state.counts.failed += 1
            case .cancelled: state.counts.cancelled += 1
            case .wrong(let reason):
                state.isWrong = true
                return "wrong \(url): \(reason)"
            }
            return state.counts.total >= 500 ? state.takeCounts() : nil
        }
        if let line { say(line) }
    }

    /// Prints the remaining counts, when all loads have ended.
    func end() {
        say(
            state.withLock { state in
                state.hasEnded = true
                return state.takeCounts()
            }
        )
    }

    /// A load that has been under way for longer than `seconds`.
    func oldest(openFor seconds: Double) -> String? {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.open.values.first { now - $0.since > .seconds(seconds) }.map {
                "\($0.url), \(state.open.count) loads are under way"
            }
        }
    }
}
