/// The readers of a sequence of values, each with a stream of its own.
///
/// The owner holds it under its own lock, because only the owner knows what must happen together with a value.
package struct StreamReaders<Element: Sendable>: Sendable {
    private var continuations: [UInt64: AsyncStream<Element>.Continuation] = [:]
    private var next: UInt64 = 0

    /// Makes an empty set of readers.
    package init() {}

    /// Adds a reader, and returns the number by which it is removed.
    package mutating func add(_ continuation: AsyncStream<Element>.Continuation) -> UInt64 {
        next += 1
        continuations[next] = continuation
        return next
    }

    /// Removes a reader; returns false if it was removed before.
    @discardableResult
    package mutating func remove(_ number: UInt64) -> Bool { continuations.removeValue(forKey: number) != nil }

    /// Sends a value to each reader.
    package func yield(_ value: Element) {
        for continuation in continuations.values { continuation.yield(value) }
    }

    /// Ends each reader's stream.
    package func finish() {
        for continuation in continuations.values { continuation.finish() }
    }
}
