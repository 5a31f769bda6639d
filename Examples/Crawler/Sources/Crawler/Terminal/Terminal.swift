import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The output of the tool: whole lines, and below them one line that is rewritten in place.
final class Terminal: Sendable {
    private struct State {
        var hasStatus = false
        var lastStatusAt: ContinuousClock.Instant?
    }

    let isInteractive: Bool
    private let state = Mutex(State())

    init() {
        isInteractive = isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// The number of columns; 80 if it is unknown.
    var width: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func line(_ text: String) {
        state.withLock { state in
            write((state.hasStatus ? "\r\u{1B}[K" : "") + text + "\n")
            state.hasStatus = false
        }
    }

    /// Shows the status line, at most ten times a second; does nothing if the output is not a terminal.
    func status(_ text: @autoclosure () -> String) {
        guard isInteractive else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if let last = state.lastStatusAt, now - last < .milliseconds(100) { return }
            state.lastStatusAt = now
            state.hasStatus = true
            write("\r\u{1B}[K" + text())
        }
    }

    func clearStatus() {
        state.withLock { state in
            if state.hasStatus { write("\r\u{1B}[K") }
            state.hasStatus = false
        }
    }

    func error(_ text: String) {
        clearStatus()
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    private func write(_ text: String) {
        // The crawl must continue even if the reader has closed the pipe.
        try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    }
}
