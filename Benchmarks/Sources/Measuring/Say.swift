import Foundation

/// Prints a line at once, so that a reader of a pipe gets it immediately.
public func say(_ line: String) {
    // Not by `print` and `fflush(nil)`, which waits while another thread reads from standard input.
    try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
}
