/// Waits for a condition that is brought about without a notification, for ten minutes at most.
///
/// An expectation of the result makes a fault a failed test, where a loop of its own would hang the run: the time limit
/// of a test does not end a loop that does not look for it.
///
/// - Parameter condition: What is waited for; it is asked at least once.
/// - Returns: Whether the condition has become true.
/// - Throws: The error of the condition.
package func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(600)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { return false }
        await Task.yield()
    }
    return true
}
