#if Redis
import NIOCore
import WaystationStorage

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

/// The answers of sentinels to one question for the primary: decides when they suffice, and which one counts.
///
/// A sentinel that was cut off from the others may still name a primary that was replaced. So the answer with the
/// greatest number counts, and none with a lower number than the present primary has, unless most sentinels give it:
/// then they were set up anew.
struct SentinelPoll {
    private let count: Int
    private let known: SentinelReport?
    private var reports: [SentinelReport] = []
    private var failures = 0
    private var lastFailure: TierError?
    private var isUrgent = false

    /// - Parameters:
    ///   - count: The number of sentinels that are asked.
    ///   - known: The present knowledge.
    init(of count: Int, knowing known: SentinelReport?) {
        self.count = count
        self.known = known
    }

    /// Takes an answer.
    ///
    /// - Returns: The result of the poll, once it is certain.
    mutating func take(_ answer: Result<SentinelReport, TierError>) -> Result<SentinelReport, TierError>? {
        switch answer {
        case .success(let report): reports.append(report)
        case .failure(let error):
            failures += 1
            lastFailure = error
        }
        if let agreed = reports.first(where: { isMajority($0) && isNewest($0) }) { return .success(agreed) }
        guard reports.count + failures == count || isUrgent else { return nil }
        if let newest { return .success(newest) }
        guard failures == count else { return nil }
        return .failure(lastFailure ?? TierError(.unreachable, "no sentinel answers"))
    }

    /// From now on, the answers of some sentinels suffice: the others have had their time.
    ///
    /// - Returns: The result of the poll, if there is an answer.
    mutating func hurry() -> Result<SentinelReport, TierError>? {
        isUrgent = true
        return newest.map { .success($0) }
    }

    /// The newest answer, or what is known if that is newer.
    private var newest: SentinelReport? {
        guard let newest = reports.max(by: { $0.epoch < $1.epoch }) else { return nil }
        return known.flatMap { newest.epoch < $0.epoch ? $0 : nil } ?? newest
    }

    private func isMajority(_ report: SentinelReport) -> Bool {
        2 * reports.count { $0 == report } > count
    }

    private func isNewest(_ report: SentinelReport) -> Bool { reports.allSatisfy { $0.epoch <= report.epoch } }
}

/// The address and the epoch of a primary, as one sentinel reports them.
struct SentinelReport: Equatable, Sendable {
    /// The address of the primary.
    let primary: RedisEndpoint
    /// The number of the configuration: greater after each failover.
    let epoch: Int

    /// Reads the replies to `SENTINEL MASTER name` and `SENTINEL GET-MASTER-ADDR-BY-NAME name`, sent in this order.
    ///
    /// During a failover, a sentinel already returns the new address by the second command, while the first one has the
    /// old address beside the new number.
    ///
    /// - Throws: A ``TierError`` when the sentinel does not know the primary.
    init(_ replies: [RESPValue]) throws(TierError) {
        for case .error(let text) in replies { throw TierError(refusal: text) }
        guard replies.count == 2, let fields = replies[0].elements, let address = replies[1].elements,
            address.count == 2, let host = address[0].string, !host.isEmpty, let port = address[1].integer,
            (1...65_535).contains(port)
        else { throw TierError(.malformed, "a sentinel sent something else than the address of a primary") }
        primary = RedisEndpoint(host: host, port: port)
        let epochs = stride(from: 0, to: fields.count - 1, by: 2).compactMap {
            fields[$0].string == "config-epoch" ? fields[$0 + 1].integer : nil
        }
        guard let epoch = epochs.first else { throw TierError(.malformed, "a sentinel sent no config-epoch") }
        self.epoch = epoch
    }

    init(primary: RedisEndpoint, epoch: Int) {
        self.primary = primary
        self.epoch = epoch
    }
}
#endif
