/// Waits for a condition that becomes true without a notification, for ten minutes at most.
///
/// A test expects the result, so a condition that stays false is a failed expectation. A loop in the test itself would
/// hang the run: the time limit of a test cancels its task, and the loop would not notice that.
///
/// - Parameter condition: The condition to wait for. It is checked at least once.
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
