import Foundation

/// Prints a line and flushes it at once, so that a reader of a pipe gets it immediately.
public func say(_ line: String) {
    print(line)
    fflush(nil)
}
