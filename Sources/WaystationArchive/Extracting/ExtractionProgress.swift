/// The progress of an extraction.
public struct ExtractionProgress: Sendable, Hashable {
    /// The path of the entry that was just written, in part or in full.
    public let path: String
    /// How many entries are complete.
    public let entriesDone: Int
    /// How many entries the archive has.
    public let entriesTotal: Int
    /// How many bytes were written so far.
    public let bytesDone: Int
    /// How many bytes there will be at the end.
    public let bytesTotal: Int
}
