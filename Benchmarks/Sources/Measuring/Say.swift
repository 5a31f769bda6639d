import Foundation

/// Prints a line at once, so that whoever reads a pipe follows along.
public func say(_ line: String) {
    print(line)
    fflush(nil)
}
