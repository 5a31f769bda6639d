#if Redis
import NIOCore
import Synchronization
import WaystationStorage

/// Brings each command to the server of a cluster that has the slot of its key.
///
/// The slots are read with the first command, and again when a server no longer has a slot or cannot be reached, at most
/// ten times a second.
final class ClusterRouter: RedisRouter {
    /// The time between two readings of the slots.
    static let interval = TimeAmount.milliseconds(100)

    private let seeds: [RedisEndpoint]
    private let connector: RedisConnector
    private let counts: @Sendable ((inout RedisCounts) -> Void) -> Void
    private let loop: any EventLoop

    private var nodes: [RedisEndpoint: RedisNode] = [:]
    private var channels: [ChannelPlace] = []
    private var topology: ClusterTopology?
    /// The calls that wait for the slots; nil if the slots are not being read.
    private var waiting: [(TierError?) -> Void]?
    private var nextReading = NIODeadline.uptimeNanoseconds(0)
    private var readings = 0
    private var isClosed = false

    /// - Parameters:
    ///   - seeds: Some of the servers.
    ///   - connector: Makes the connections.
    ///   - loop: The loop of the connections.
    ///   - counts: Changes the numbers of events.
    init(
        _ seeds: [RedisEndpoint],
        _ connector: RedisConnector,
        on loop: any EventLoop,
        counts: @escaping @Sendable ((inout RedisCounts) -> Void) -> Void
    ) {
        self.seeds = seeds
        self.connector = connector
        self.loop = loop
        self.counts = counts
    }

    func run(
        _ commands: [RedisCommand],
        until deadline: NIODeadline,
        _ completion: @escaping (Result<[RESPValue], TierError>) -> Void
    ) {
        let gathering = ReplyGathering(commands.count, DeadlineRace(until: deadline, on: loop, completion))
        for (place, command) in commands.enumerated() {
            start(RoutedCommand(command, until: deadline, at: place, of: gathering), after: nil)
        }
    }

    func connect(for key: String, _ completion: @escaping (Result<RedisConnection, TierError>) -> Void) {
        let slot = HashSlot(of: key)
        guard !isClosed, let topology, let owner = topology.owner(of: slot) else {
            return readTopology { [self] error in
                guard topology?.owner(of: slot) != nil, !isClosed else {
                    return completion(.failure(error ?? TierError(.unreachable, "no server has the channel's slot")))
                }
                connect(for: key, completion)
            }
        }
        connector.connect(to: owner, named: topology.names[owner], on: loop) { [self] result in
            switch result {
            case .success(let connection):
                guard !isClosed, self.topology?.owner(of: slot) == owner else {
                    connection.close(Self.hasMoved)
                    return completion(.failure(Self.hasMoved))
                }
                channels.removeAll { $0.connection == nil }
                channels.append(ChannelPlace(slot: slot, owner: owner, connection: connection))
            case .failure: readTopology()
            }
            completion(result)
        }
    }

    /// A server that no longer has the slot replies where the slot is.
    func check(_ key: String) {
        run([RedisCommand("GET", key: key)], until: .now() + TimeAmount(connector.options.connectTimeout)) { _ in }
    }

    func close() {
        isClosed = true
        for node in nodes.values { node.close(.tierWasClosed) }
        nodes = [:]
        for place in channels { place.connection?.close(.tierWasClosed) }
        let waiting = self.waiting.take() ?? []
        for completion in waiting { completion(.tierWasClosed) }
    }

    // MARK: - Commands

    /// Sends a command to the owner of its slot.
    private func start(_ command: RoutedCommand, after failure: TierError?) {
        guard !command.isOver else { return }
        guard let owner = topology?.owner(of: command.slot) else {
            return carryOut(command.route.next(after: .unserved(failure)), command)
        }
        send(command, to: owner, isAsking: false)
    }

    private func send(_ command: RoutedCommand, to endpoint: RedisEndpoint, isAsking: Bool) {
        guard !command.isOver else { return }
        node(endpoint).run([command.command], isAsking: isAsking, until: command.deadline) { [self] result in
            switch result {
            case .success(let replies):
                let reply = replies.first ?? .null
                learn(from: reply, of: endpoint)
                carryOut(command.route.next(after: .reply(reply, from: endpoint)), command)
            case .failure(let failure):
                // The server may have failed, and a replica may have its slots by now.
                readTopology()
                carryOut(command.route.next(after: .failure(failure)), command)
            }
        }
    }

    private func carryOut(_ step: CommandRoute.Step, _ command: RoutedCommand) {
        switch step {
        case .end(let value): command.end(.success(value))
        case .fail(let error): command.end(.failure(error))
        case .send(let endpoint, let isAsking): send(command, to: endpoint, isAsking: isAsking)
        case .again(let pause):
            loop.assumeIsolated().scheduleTask(in: pause) { self.start(command, after: nil) }
        case .againWithNewTopology: readTopology { self.start(command, after: $0) }
        }
    }

    /// Takes from a refusal where slots are.
    private func learn(from reply: RESPValue, of endpoint: RedisEndpoint) {
        guard case .error(let text) = reply else { return }
        switch ClusterRefusal(text, from: endpoint.host) {
        case .moved(let slot, let target):
            counts { $0.moved += 1 }
            if let target {
                topology?.move(slot, to: target)
                leaveOldPlaces()
            }
            // Slots seldom move alone.
            readTopology()
        case .ask: counts { $0.asked += 1 }
        case .tryAgain, .down, .other: break
        }
    }

    private func node(_ endpoint: RedisEndpoint) -> RedisNode {
        if let node = nodes[endpoint] { return node }
        let node = RedisNode(endpoint, connector, on: loop) { [weak self] in self?.topology?.names[endpoint] }
        if isClosed { node.close(.tierWasClosed) } else { nodes[endpoint] = node }
        return node
    }

    // MARK: - Topology

    /// Reads the slots, unless they are being read already.
    ///
    /// - Parameter completion: Called once they are known, or with the reason why they are not.
    private func readTopology(_ completion: ((TierError?) -> Void)? = nil) {
        guard !isClosed else {
            completion?(.tierWasClosed)
            return
        }
        guard waiting == nil else {
            if let completion { waiting?.append(completion) }
            return
        }
        waiting = completion.map { [$0] } ?? []
        loop.assumeIsolated().scheduleTask(deadline: max(.now(), nextReading)) { self.beginReading() }
    }

    private func beginReading() {
        guard !isClosed else { return }
        nextReading = .now() + Self.interval
        readings += 1
        let timeout = TimeAmount(connector.options.connectTimeout)
        let query = TopologyQuery(candidates.map(node), timeout: timeout, on: loop) { self.endReading($0) }
        query.askNext()
    }

    /// The servers to ask, another one first each time: one that is cut off from the others keeps its old knowledge.
    private var candidates: [RedisEndpoint] {
        let primaries = topology?.primaries ?? []
        let turned = primaries.isEmpty ? [] : primaries.indices.map { primaries[($0 + readings) % primaries.count] }
        var seen: Set<RedisEndpoint> = []
        return (turned + (topology?.replicas ?? []) + seeds).filter { seen.insert($0).inserted }
    }

    private func endReading(_ result: Result<ClusterTopology, TierError>) {
        guard !isClosed else { return }
        let completions = waiting.take() ?? []
        var failure: TierError?
        switch result {
        case .success(let new):
            counts { $0.topologies += 1 }
            topology = new
            leaveOldPlaces()
            let servers = Set(new.servers + seeds)
            // A server without slots may still be sent commands of slots that are being moved to it.
            for (endpoint, node) in nodes where !servers.contains(endpoint) && !node.isConnected {
                nodes[endpoint] = nil
                node.close(TierError(.unreachable, "the server has left the cluster"))
            }
        case .failure(let error): failure = error
        }
        for completion in completions { completion(failure) }
    }

    /// Closes the connections of channels whose numbers have gone to other servers.
    private func leaveOldPlaces() {
        guard let topology else { return }
        let left = channels.filter { topology.owner(of: $0.slot) != $0.owner }
        channels.removeAll { topology.owner(of: $0.slot) != $0.owner }
        for place in left { place.connection?.close(Self.hasMoved) }
    }

    private static var hasMoved: TierError {
        TierError(.unreachable, "the number of the channel has gone to another server")
    }
}

/// The connection of a channel, and the server that had its number when the connection was made.
private struct ChannelPlace {
    let slot: HashSlot
    let owner: RedisEndpoint
    weak var connection: RedisConnection?
}

/// A command on its way through the servers of a cluster.
private final class RoutedCommand {
    let command: RedisCommand
    let slot: HashSlot
    let deadline: NIODeadline
    var route = CommandRoute()
    private let place: Int
    private let gathering: ReplyGathering

    init(_ command: RedisCommand, until deadline: NIODeadline, at place: Int, of gathering: ReplyGathering) {
        self.command = command
        slot = HashSlot(of: command.key)
        self.deadline = deadline
        self.place = place
        self.gathering = gathering
    }

    var isOver: Bool { gathering.isOver }

    func end(_ result: Result<RESPValue, TierError>) { gathering.take(result, at: place) }
}

/// Asks servers of a cluster for the slots, one after the other, until one of them answers.
///
/// It is confined to its event loop.
final class TopologyQuery {
    /// The time after which the next server is asked as well.
    static let patience = TimeAmount.milliseconds(200)

    private let loop: any EventLoop
    private let timeout: TimeAmount
    private var candidates: ArraySlice<RedisNode>
    private var asked = 0
    private var completion: ((Result<ClusterTopology, TierError>) -> Void)?

    /// - Parameters:
    ///   - candidates: The servers, in the order in which they are asked.
    ///   - timeout: How long the answer of one server is waited for.
    ///   - loop: The loop of the query.
    ///   - completion: Called once, with the first answer, or with the last failure.
    init(
        _ candidates: [RedisNode],
        timeout: TimeAmount,
        on loop: any EventLoop,
        _ completion: @escaping (Result<ClusterTopology, TierError>) -> Void
    ) {
        self.candidates = candidates[...]
        self.timeout = timeout
        self.loop = loop
        self.completion = completion
    }

    /// Asks the next server.
    func askNext(after failure: TierError? = nil) {
        guard completion != nil else { return }
        guard let node = candidates.popFirst() else {
            if asked == 0 {
                let reason = failure ?? TierError(.unreachable, "no server of the cluster is known")
                completion.take()?(.failure(reason))
            }
            return
        }
        asked += 1
        let slow = loop.assumeIsolated().scheduleTask(in: Self.patience) { self.askNext() }
        node.run([RedisCommand("CLUSTER", "SLOTS")], until: .now() + timeout) { [self] result in
            slow.cancel()
            asked -= 1
            switch result.mapError(\.error).flatMap({ ClusterTopology.read($0.first, from: node.endpoint.host) }) {
            case .failure(let error): askNext(after: error)
            case .success(let topology): completion.take()?(.success(topology))
            }
        }
    }
}

extension ClusterTopology {
    /// Reads a reply; a server that knows no slots has not joined the cluster yet, or was removed from it.
    fileprivate static func read(_ reply: RESPValue?, from sender: String) -> Result<ClusterTopology, TierError> {
        Result { () throws(TierError) in
            let topology = try ClusterTopology(reply ?? .null, from: sender)
            guard !topology.primaries.isEmpty else {
                throw TierError(.unreachable, "a server of the cluster knows no slots")
            }
            return topology
        }
    }
}

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

/// An error reply of a server of a cluster, as far as it says where or when else to ask.
enum ClusterRefusal: Equatable {
    /// The slot now belongs to another server; nil if that server has no address.
    case moved(HashSlot, RedisEndpoint?)
    /// The slot is being moved: only this command is to be sent to the other server, after `ASKING`.
    case ask(RedisEndpoint?)
    /// The slot is being moved, and the command cannot run at this moment.
    case tryAgain
    /// The cluster does not serve the slot at this moment.
    case down
    /// Another error, which another server would return, too.
    case other

    /// Reads the text of an error.
    ///
    /// - Parameters:
    ///   - text: The text, without the `-` in front.
    ///   - sender: The host of the server that sent it, which stands for an empty host.
    init(_ text: String, from sender: String) {
        let words = text.split(separator: " ", maxSplits: 3)
        switch words.first {
        case "MOVED" where words.count >= 3, "ASK" where words.count >= 3:
            guard let slot = Int(words[1]).flatMap(HashSlot.init) else {
                self = .other
                return
            }
            let endpoint = RedisEndpoint(words[2], from: sender)
            self = words[0] == "MOVED" ? .moved(slot, endpoint) : .ask(endpoint)
        case "TRYAGAIN": self = .tryAgain
        case "CLUSTERDOWN", "MASTERDOWN", "LOADING": self = .down
        default: self = .other
        }
    }
}
#endif
