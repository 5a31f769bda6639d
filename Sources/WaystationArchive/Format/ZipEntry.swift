/// A file or directory in a zip archive, as its directory describes it.
public struct ZipEntry: Sendable, Hashable {
    /// Where it belongs: a relative path of segments joined by `/`, checked, without a slash at its end.
    public let path: String
    /// Whether it is a directory; all else are files.
    public let isDirectory: Bool
    /// How many bytes it has.
    public let size: Int
    /// How many bytes it takes in the archive.
    public let compressedSize: Int
    /// The CRC-32 of its bytes.
    public let crc32: UInt32
    /// How its bytes are kept.
    public let method: ZipMethod
    /// When it was last changed.
    public let modified: ZipTime
    /// Where its local header starts in the source.
    public let offset: Int
    /// Where its compressed bytes start in the source.
    let dataOffset: Int
}

/// How an entry's bytes are kept (APPNOTE 4.4.5): the two ways that every tool knows.
public enum ZipMethod: UInt16, Sendable, Hashable, CaseIterable {
    /// As they are.
    case stored = 0
    /// Compressed by deflate (RFC 1951).
    case deflated = 8
}
