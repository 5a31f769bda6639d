import Testing

/// Waits for a condition that other queues bring about without a notification.
///
/// Gives up after ten minutes, so that a fault fails its test instead of hanging the run.
func eventually(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
    let deadline = ContinuousClock.now + .seconds(600)
    while !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("the condition has not become true within ten minutes", sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
    }
}
