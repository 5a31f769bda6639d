#if Redis
import WaystationSharing

/// The reason why commands got no replies.
struct RedisFailure: Error {
    let error: TierError
    /// Whether the server may have run the commands nevertheless.
    let mayHaveRun: Bool

    init(_ error: TierError, mayHaveRun: Bool) {
        self.error = error
        self.mayHaveRun = mayHaveRun
    }
}
#endif
