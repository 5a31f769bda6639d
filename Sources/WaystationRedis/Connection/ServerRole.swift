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
}
#endif
