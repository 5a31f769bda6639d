import Testing

/// Waits for what happens on queues that nobody can be asked about.
///
/// Gives up after ten minutes, so that a fault fails its test instead of hanging the run.
func eventually(_ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
    let deadline = ContinuousClock.now + .seconds(600)
    while !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("what was waited for has not happened", sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
    }
}
