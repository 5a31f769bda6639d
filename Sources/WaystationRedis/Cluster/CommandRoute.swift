#if Redis
import NIOCore
import WaystationSharing

/// Decides after each attempt to run one command in a cluster what follows: a state machine without side effects.
struct CommandRoute {
    /// The end of an attempt.
    enum Outcome {
        case reply(RESPValue, from: RedisEndpoint)
        case failure(RedisFailure)
        /// The slot has no server, as far as is known.
        case unserved(TierError?)
    }

    enum Step: Equatable {
        case end(RESPValue)
        case fail(TierError)
        /// Send the command to this server, behind `ASKING` if it is only asked.
        case send(to: RedisEndpoint, isAsking: Bool)
        /// Send the command to the owner of its slot, after a pause.
        case again(after: TimeAmount)
        /// Send the command to the owner of its slot, after the slots were read again.
        case againWithNewTopology
    }

    /// The number of redirects after which servers contradict each other.
    static let longest = 8
    /// How often the slots are read again for one command.
    static let renewals = 2

    private var redirects = 0
    private var renewals = 0
    private var pause = TimeAmount.milliseconds(2)

    /// The step that follows.
    mutating func next(after outcome: Outcome) -> Step {
        switch outcome {
        case .reply(.error(let text), let server): next(after: text, from: server)
        case .reply(let value, _): .end(value)
        // Nothing has reached the server, so the command cannot run twice.
        case .failure(let failure) where !failure.mayHaveRun: renew(or: failure.error)
        case .failure(let failure): .fail(failure.error)
        case .unserved(let reason): renew(or: reason ?? TierError(.unreachable, "no server has the slot"))
        }
    }

    private mutating func next(after text: String, from server: RedisEndpoint) -> Step {
        let refusal = ClusterRefusal(text, from: server.host)
        switch refusal {
        case .moved(_, let target?), .ask(let target?):
            redirects += 1
            guard redirects <= Self.longest else {
                return .fail(TierError(.unreachable, "the servers of the cluster redirect to each other"))
            }
            if case .ask = refusal { return .send(to: target, isAsking: true) }
            return .send(to: target, isAsking: false)
        case .tryAgain:
            defer { pause = min(pause * 2, .milliseconds(64)) }
            return .again(after: pause)
        case .moved(_, nil), .ask(nil), .down: return renew(or: TierError(refusal: text))
        case .other: return .fail(TierError(refusal: text))
        }
    }

    private mutating func renew(or error: TierError) -> Step {
        guard renewals < Self.renewals else { return .fail(error) }
        renewals += 1
        return .againWithNewTopology
    }
}
#endif
