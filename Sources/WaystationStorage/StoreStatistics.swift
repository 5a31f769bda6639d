/// What a store holds and has done, at one moment.
public struct StoreStatistics: Hashable, Sendable {
    /// Responses on disk, those of other processes included.
    public internal(set) var entries = 0
    /// Bytes of those responses: bodies, fields and URLs; a body in a file that several share counts once.
    public internal(set) var bytes = 0
    /// Responses at hand in memory.
    public internal(set) var residentEntries = 0
    /// Memory that they take, about.
    public internal(set) var residentBytes = 0
    /// Answers from memory, since this object was made.
    public internal(set) var memoryHits = 0
    /// Answers from disk, since this object was made.
    public internal(set) var diskHits = 0
    /// Look-ups that found nothing, those given up included, since this object was made.
    public internal(set) var misses = 0
    /// Responses committed through this object.
    public internal(set) var stored = 0
    /// Whether the store could be opened; when not, look-ups miss and writes are dropped.
    public internal(set) var isAvailable = false
}
