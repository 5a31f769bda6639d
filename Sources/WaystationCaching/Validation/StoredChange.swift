/// A change to stored exchanges that a response of the origin requires.
public enum StoredChange: Hashable, Sendable {
    /// Replace the exchange at this index; its content stays.
    case update(index: Int, StoredExchange)
    /// Add an exchange with the same content as the exchange at this index: the origin selected that variant for the
    /// request.
    case add(contentOf: Int, StoredExchange)
}
