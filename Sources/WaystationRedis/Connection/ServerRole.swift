#if Redis
/// The part of a server in replication, as it reports it by `ROLE`.
enum ServerRole: Equatable {
    /// The server takes changes, and this many replicas follow it now.
    case primary(replicas: Int)
    /// The server follows another one, or the reply has no meaning.
    case other

    init(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.first?.string == "master", parts.count >= 3,
            let replicas = parts[2].elements
        else {
            self = .other
            return
        }
        self = .primary(replicas: replicas.count)
    }

    /// Whether an error means that its server is a replica, or has not loaded its values yet.
    ///
    /// In Redis 6, the refusal of a script's command is not at the beginning of the error.
    static func isReplica(by refusal: String) -> Bool {
        ["READONLY", "MASTERDOWN", "LOADING"].contains(where: refusal.hasPrefix) || refusal.contains("-READONLY ")
    }
}
#endif
