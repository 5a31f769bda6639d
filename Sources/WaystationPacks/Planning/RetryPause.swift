/// How long an update that failed is not tried again: the pause doubles with each further failure.
public struct RetryPause: Sendable, Hashable {
    /// The pause after the first failure; a minute by default.
    public var first: Duration
    /// The longest pause; an hour by default.
    public var longest: Duration

    /// Makes the settings of the pauses.
    public init(first: Duration = .seconds(60), longest: Duration = .seconds(3600)) {
        self.first = first
        self.longest = longest
    }

    /// The pause after a number of consecutive failures.
    func duration(after attempts: Int) -> Duration {
        var pause = max(.zero, min(first, longest))
        var doublings = max(1, attempts) - 1
        while doublings > 0, pause > .zero, pause < longest {
            pause = min(pause * 2, longest)
            doublings -= 1
        }
        return pause
    }
}
