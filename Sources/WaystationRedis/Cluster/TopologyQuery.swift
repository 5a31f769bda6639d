#if Redis
import NIOCore
import WaystationSharing

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
#endif
