/// A file or directory in a zip archive, as the archive's directory describes it.
public struct ZipEntry: Sendable, Hashable {
    /// The entry's relative path, checked: segments joined by `/`, without a slash at its end.
    public let path: String
    /// Whether the entry is a directory; otherwise it is a file.
    public let isDirectory: Bool
    /// The entry's size in bytes.
    public let size: Int
    /// The entry's size in the archive, in bytes.
    public let compressedSize: Int
    /// The CRC-32 of the entry's bytes.
    public let crc32: UInt32
    /// The method by which the entry's bytes are stored.
    public let method: ZipMethod
    /// When the entry was last changed.
    public let modified: ZipTime
    /// The start of the entry's local header in the source.
    public let offset: Int
    /// The start of the entry's compressed bytes in the source.
    let dataOffset: Int
}

/// The method by which an entry's bytes are stored (APPNOTE 4.4.5): the two that every tool knows.
public enum ZipMethod: UInt16, Sendable, Hashable, CaseIterable {
    /// Stored without compression.
    case stored = 0
    /// Compressed by deflate (RFC 1951).
    case deflated = 8
}
