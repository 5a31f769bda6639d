import Foundation
import Synchronization
import WaystationPacks

/// Shows an update's progress: in one line that is rewritten if standard error is a terminal, else in a line for each
/// step.
final class ProgressDisplay: Sendable {
    private struct State {
        var step = ""
        var lastDrawn: ContinuousClock.Instant?
        var hasLine = false
    }

    private let isShown: Bool
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let state = Mutex(State())

    init(isShown: Bool) { self.isShown = isShown }

    /// Shows a step of progress; may be called on any thread.
    func show(_ progress: UpdateProgress) {
        guard isShown else { return }
        let step = "\(progress.module): \(progress.phase.name)"
        state.withLock { state in
            let isNew = state.step != step
            state.step = step
            guard isTerminal else {
                if isNew { Console.writeError(step) }
                return
            }
            let now = ContinuousClock.now
            if !isNew, let last = state.lastDrawn, now - last < .milliseconds(100) { return }
            state.lastDrawn = now
            state.hasLine = true
            write("\r\u{1B}[K\(step)\(progress.phase.bar)")
        }
    }

    /// Removes the progress line.
    func clear() {
        state.withLock { state in
            if state.hasLine { write("\r\u{1B}[K") }
            state.hasLine = false
        }
    }

    private func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

extension UpdateProgress.Phase {
    fileprivate var name: String {
        switch self {
        case .downloading: "downloading"
        case .patching: "patching"
        case .unpacking: "unpacking"
        }
    }

    /// A progress bar, such as ` ████████░░░░░░░░ 52 % of 5.0 MB`.
    fileprivate var bar: String {
        switch self {
        case .patching: return " …"
        case .downloading(let completed, nil): return " \(Words.bytes(completed))"
        case .downloading(let completed, let expected?): return Self.bar(completed, of: expected)
        case .unpacking(_, _, let bytes, let total): return Self.bar(bytes, of: total)
        }
    }

    private static func bar(_ done: Int, of total: Int) -> String {
        let share = total > 0 ? min(1, max(0, Double(done) / Double(total))) : 1
        let filled = Int((share * 24).rounded(.down))
        let blocks = String(repeating: "█", count: filled) + String(repeating: "░", count: 24 - filled)
        return " \(blocks) \(Int((share * 100).rounded(.down))) % of \(Words.bytes(total))"
    }
}
