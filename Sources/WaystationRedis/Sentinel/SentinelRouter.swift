#if Redis
import NIOCore
import WaystationSharing

/// Brings all commands to the primary that sentinels name.
///
/// The sentinels are asked with the first command, when one of them reports a failover, and when the primary cannot be
/// reached, at most ten times a second.
final class SentinelRouter: RedisRouter {
    /// The time between two polls.
    static let interval = TimeAmount.milliseconds(100)
    /// The time after which the answers of some sentinels suffice.
    static let patience = TimeAmount.milliseconds(200)

    private let master: String
    private let connector: RedisConnector
    private let counts: @Sendable ((inout RedisCounts) -> Void) -> Void
    private let loop: any EventLoop
    private let sentinels: [RedisClient]
    private var watches: [SentinelWatch] = []

    private var known: SentinelReport?
    private var node: RedisNode?
    private var channels = ChannelConnections()
    /// The calls that wait for the end of a poll; nil if there is no poll.
    private var waiting: [(TierError?) -> Void]?
    /// Whether something has happened since the present poll began that its answers may not contain.
    private var isPollStale = false
    private var nextPoll = NIODeadline.uptimeNanoseconds(0)
    private var isClosed = false

    /// - Parameters:
    ///   - sentinels: The sentinels.
    ///   - master: The name by which they know the primary.
    ///   - connector: Makes the connections to the primary.
    ///   - loop: The loop of the connections.
    ///   - counts: Changes the numbers of events.
    init(
        _ sentinels: [RedisEndpoint],
        master: String,
        _ connector: RedisConnector,
        on loop: any EventLoop,
        counts: @escaping @Sendable ((inout RedisCounts) -> Void) -> Void
    ) {
        self.master = master
        self.connector = connector
        self.counts = counts
        self.loop = loop
        let toSentinels = connector.toSentinels
        self.sentinels = sentinels.map { sentinel in
            RedisClient(on: loop) { toSentinels.connect(to: sentinel, on: loop, $0) }
        }
        watches = sentinels.map { sentinel in
            SentinelWatch(sentinel, master: master, toSentinels, on: loop) { [weak self] in self?.pollAgain() }
        }
        for watch in watches { watch.begin() }
    }

    func run(
        _ commands: [RedisCommand],
        until deadline: NIODeadline,
        _ completion: @escaping (Result<[RESPValue], TierError>) -> Void
    ) {
        let race = DeadlineRace(until: deadline, on: loop, completion)
        attempt(commands, PrimaryRoute(), until: deadline, race, after: nil)
    }

    func connect(for key: String, _ completion: @escaping (Result<RedisConnection, TierError>) -> Void) {
        guard let node else {
            return poll { [self] error in
                guard node != nil else {
                    return completion(.failure(error ?? TierError(.unreachable, "no primary is known")))
                }
                connect(for: key, completion)
            }
        }
        connector.connect(to: node.endpoint, on: loop) { [self] result in
            switch result {
            case .success(let connection):
                guard !isClosed, self.node === node else {
                    connection.close(Self.wasReplaced)
                    return completion(.failure(Self.wasReplaced))
                }
                channels.add(connection)
            case .failure: poll()
            }
            completion(result)
        }
    }

    /// Asks the sentinels, since their notices may have been lost.
    func check(_ key: String) { poll() }

    func close() {
        isClosed = true
        for watch in watches { watch.close() }
        for sentinel in sentinels { sentinel.close(.tierWasClosed) }
        leave(.tierWasClosed)
        let waiting = self.waiting.take() ?? []
        for completion in waiting { completion(.tierWasClosed) }
    }

    // MARK: - Commands

    private func attempt(
        _ commands: [RedisCommand],
        _ route: PrimaryRoute,
        until deadline: NIODeadline,
        _ race: DeadlineRace<[RESPValue]>,
        after failure: TierError?
    ) {
        guard !race.isOver else { return }
        let finish = { [self] (result: Result<[RESPValue], RedisFailure>, node: RedisNode?) in
            var route = route
            switch route.next(after: result) {
            case .end(let replies): race.end(.success(replies))
            case .fail(let error):
                if case .failure = result { poll() }
                race.end(.failure(error))
            case .leaveServer:
                if let node, self.node === node { leave(Self.wasReplaced) }
                fallthrough
            case .findPrimary:
                poll { self.attempt(commands, route, until: deadline, race, after: $0) }
            }
        }
        guard let node else {
            let error = failure ?? TierError(.unreachable, "no primary is known")
            return finish(.failure(RedisFailure(error, mayHaveRun: false)), nil)
        }
        node.run(commands, until: deadline) { finish($0, node) }
    }

    /// Closes the connections to the present primary.
    private func leave(_ reason: TierError) {
        node.take()?.close(reason)
        for channel in channels.takeAll() { channel.close(reason) }
    }

    private static var wasReplaced: TierError { TierError(.unreachable, "the primary was replaced") }

    // MARK: - Polls

    /// Asks the sentinels for the primary, unless they are being asked.
    ///
    /// - Parameter completion: Called once at the end of the poll.
    private func poll(_ completion: ((TierError?) -> Void)? = nil) {
        guard !isClosed else {
            completion?(.tierWasClosed)
            return
        }
        guard waiting == nil else {
            if let completion { waiting?.append(completion) }
            return
        }
        waiting = completion.map { [$0] } ?? []
        loop.assumeIsolated().scheduleTask(deadline: max(.now(), nextPoll)) { self.beginPoll() }
    }

    /// Asks the sentinels for the primary after a notice of one of them.
    private func pollAgain() {
        isPollStale = true
        poll()
    }

    private func beginPoll() {
        guard !isClosed else { return }
        isPollStale = false
        nextPoll = .now() + Self.interval
        let questions = [
            RedisCommand("SENTINEL", "MASTER", master), RedisCommand("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master),
        ]
        var poll: SentinelPoll? = SentinelPoll(of: sentinels.count, knowing: known)
        let end = { [self] (result: Result<SentinelReport, TierError>?) in
            guard let result else { return }
            poll = nil
            endPoll(result)
        }
        for sentinel in sentinels {
            sentinel.run(questions, until: .now() + TimeAmount(connector.options.connectTimeout)) { result in
                let answer = result.mapError(\.error).flatMap { replies in
                    Result { () throws(TierError) in try SentinelReport(replies) }
                }
                end(poll?.take(answer))
            }
        }
        loop.assumeIsolated().scheduleTask(in: Self.patience) { end(poll?.hurry()) }
    }

    private func endPoll(_ result: Result<SentinelReport, TierError>) {
        guard !isClosed else { return }
        var failure: TierError?
        switch result {
        case .success(let report): follow(report)
        case .failure(let error): failure = error
        }
        let completions = waiting.take() ?? []
        for completion in completions { completion(failure) }
        if isPollStale { poll() }
    }

    private func follow(_ report: SentinelReport) {
        if let known, known.primary != report.primary {
            counts { $0.failovers += 1 }
            leave(Self.wasReplaced)
        }
        known = report
        if node == nil { node = RedisNode(report.primary, connector, on: loop) }
    }
}
#endif
