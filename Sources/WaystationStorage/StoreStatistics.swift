/// The contents and counters of a store, at one moment.
public struct StoreStatistics: Hashable, Sendable {
    /// Responses on disk, including those of other processes.
    public internal(set) var entries = 0
    /// Bytes of those responses: bodies, fields and URLs; a body file that several responses share counts once.
    public internal(set) var bytes = 0
    /// The size of the directory on disk, in bytes: its files in blocks of 4,096 bytes, and its directories.
    ///
    /// The size of body files is that of the index.
    public internal(set) var diskBytes = 0
    /// Responses in memory.
    public internal(set) var residentEntries = 0
    /// Approximate memory that they take, in bytes.
    public internal(set) var residentBytes = 0
    /// Look-ups answered from memory, since this object was made.
    public internal(set) var memoryHits = 0
    /// Look-ups answered from disk, since this object was made.
    public internal(set) var diskHits = 0
    /// Look-ups that found nothing, including those given up, since this object was made.
    public internal(set) var misses = 0
    /// Responses committed through this object.
    public internal(set) var stored = 0
    /// Whether the store could be opened; when it could not, look-ups miss and writes are dropped.
    public internal(set) var isAvailable = false
}
