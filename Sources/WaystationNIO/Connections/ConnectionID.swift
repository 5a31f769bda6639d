#if NIO
/// Identifies a connection of a transport, from the moment on when it is being made.
struct ConnectionID: Hashable, Sendable {
    var number: UInt64

    /// Makes identities that differ from each other.
    struct Source {
        private var last: UInt64 = 0

        mutating func next() -> ConnectionID {
            last &+= 1
            return ConnectionID(number: last)
        }
    }
}
#endif
