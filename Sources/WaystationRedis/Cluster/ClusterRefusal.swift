#if Redis
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
