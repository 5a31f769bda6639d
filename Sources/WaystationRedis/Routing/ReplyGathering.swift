#if Redis
import NIOCore
import WaystationSharing

/// The replies of commands that are sent to several servers: complete with the last one, or at the deadline.
///
/// It is confined to its event loop.
final class ReplyGathering {
    private let race: DeadlineRace<[RESPValue]>
    private var replies: [RESPValue?]
    private var missing: Int

    /// - Parameters:
    ///   - count: The number of commands.
    ///   - race: Gets the replies, in the order of the commands, or the first failure.
    init(_ count: Int, _ race: DeadlineRace<[RESPValue]>) {
        replies = Array(repeating: nil, count: count)
        missing = count
        self.race = race
    }

    /// Whether nothing waits for replies any more.
    var isOver: Bool { race.isOver }

    /// Takes the end of the command at a place.
    func take(_ result: Result<RESPValue, TierError>, at place: Int) {
        guard !isOver else { return }
        switch result {
        case .failure(let error): race.end(.failure(error))
        case .success(let value):
            replies[place] = value
            missing -= 1
            if missing == 0 { race.end(.success(replies.compactMap(\.self))) }
        }
    }
}
#endif
