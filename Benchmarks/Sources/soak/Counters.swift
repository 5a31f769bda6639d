import Foundation
import Synchronization

/// The counts of a run so far.
final class Counters: Sendable {
    struct State: Sendable {
        var started = 0
        var ended = 0
        var hits = 0
        var forwards = 0
        var cancelled = 0
        var wrong = 0
        var failed = 0
        var firstTroubles: [String] = []
        /// The loads under way, by their order.
        var open: [Int: String] = [:]
    }

    private let state = Mutex(State())

    var now: State { state.withLock { $0 } }

    /// Takes the next load; returns nil when enough loads have been started.
    func start(of total: Int) -> Int? {
        state.withLock { state in
            guard state.started < total else { return nil }
            defer { state.started += 1 }
            return state.started
        }
    }

    func open(_ order: Int, _ what: String) {
        state.withLock { $0.open[order] = what }
    }

    func end(_ order: Int, _ change: @Sendable (inout State) -> Void) {
        state.withLock { state in
            state.open[order] = nil
            state.ended += 1
            change(&state)
        }
    }
}

extension Counters.State {
    mutating func trouble(_ text: String) {
        if firstTroubles.count < 10 { firstTroubles.append(text) }
    }

    var dump: String {
        var lines = [
            "started \(started), ended \(ended), \(hits) hits, \(forwards) forwards, \(cancelled) cancelled, "
                + "\(wrong) wrong, \(failed) failed, \(open.count) under way"
        ]
        lines += open.sorted { $0.key < $1.key }.prefix(70).map { "  under way: \($0.key) \($0.value)" }
        lines += firstTroubles.map { "  trouble: \($0)" }
        return lines.joined(separator: "\n")
    }
}
