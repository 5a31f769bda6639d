/// A change to what is stored that an answer of the origin asks for.
public enum StoredChange: Hashable, Sendable {
    /// Replace what is kept beside the content of the exchange at this place; the content stays.
    case update(index: Int, StoredExchange)
    /// Add an exchange whose content is that of the exchange at this place: a variant that turned out to be the same.
    case add(contentOf: Int, StoredExchange)
}
