#if Redis
import WaystationSharing

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
