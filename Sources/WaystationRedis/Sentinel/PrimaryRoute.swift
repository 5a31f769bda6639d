#if Redis
import WaystationSharing

/// Decides after each attempt to run commands on a primary what follows: a state machine without side effects.
struct PrimaryRoute {
    enum Step: Equatable {
        case end([RESPValue])
        case fail(TierError)
        /// Ask the sentinels for the primary, and send the commands there.
        case findPrimary
        /// The server has become a replica: do the same without it.
        case leaveServer
    }

    /// How often the primary is looked for again for one call.
    static let searches = 2

    private var searches = 0

    /// The step that follows.
    mutating func next(after result: Result<[RESPValue], RedisFailure>) -> Step {
        switch result {
        case .success(let replies):
            let errors = replies.compactMap { if case .error(let text) = $0 { text } else { nil } }
            guard let text = errors.first else { return .end(replies) }
            guard errors.contains(where: ServerRole.isReplica) else { return .fail(TierError(refusal: text)) }
            return search(.leaveServer, or: TierError(refusal: text))
        // Nothing has reached the server, so the commands cannot run twice.
        case .failure(let failure) where !failure.mayHaveRun: return search(.findPrimary, or: failure.error)
        case .failure(let failure): return .fail(failure.error)
        }
    }

    private mutating func search(_ step: Step, or error: TierError) -> Step {
        guard searches < Self.searches else { return .fail(error) }
        searches += 1
        return step
    }
}
#endif
