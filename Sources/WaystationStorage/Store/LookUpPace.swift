/// Whether a look-up may be made while its caller waits: a rule of thumb from how long the last ones took.
///
/// A look-up that the system's file cache answers takes some ten microseconds; one that meets a sleeping disk, or another
/// process's lock, takes thousands of times that. After a slow one callers no longer wait, for a number of look-ups.
struct LookUpPace {
    /// The longest that a quick look-up takes, in nanoseconds.
    static let quick: UInt64 = 500_000
    /// How many look-ups are made elsewhere after a slow one.
    static let penalty = 256

    private var isRunning = false
    private var remainingPenalty = 0

    /// Whether the caller may wait for a look-up now; if so ``end(after:)`` must follow.
    mutating func begin() -> Bool {
        guard !isRunning else { return false }
        guard remainingPenalty == 0 else {
            remainingPenalty -= 1
            return false
        }
        isRunning = true
        return true
    }

    /// Notes how long the look-up took, in nanoseconds.
    mutating func end(after duration: UInt64) {
        isRunning = false
        if duration > Self.quick { remainingPenalty = Self.penalty }
    }
}
