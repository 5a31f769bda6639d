/// A change to stored responses that a response of the origin requires.
public enum StoredChange: Hashable, Sendable {
    /// Replace the stored response at this index; its content stays.
    case update(index: Int, StoredHead)
    /// Add a stored response with the same content as the one at this index: the origin selected that variant for the
    /// request.
    case add(contentOf: Int, StoredHead)
}
