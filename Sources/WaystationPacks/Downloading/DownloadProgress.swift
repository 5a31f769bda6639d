public import Foundation

/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes on disk, including those of earlier attempts.
    public var completed: Int
    /// Bytes in total; nil while the total is unknown.
    public var expected: Int?

    /// Makes a progress value.
    public init(completed: Int, expected: Int?) {
        self.completed = completed
        self.expected = expected
    }
}

/// An artifact that was downloaded completely.
public struct DownloadedArtifact: Sendable, Hashable {
    /// The file, in the downloader's directory; move it away, or call ``ArtifactDownloader/discard(_:)`` after use.
    public var file: URL
    /// The size in bytes.
    public var size: Int
    /// Its SHA-256, and its digest in the artifact's own algorithm if that is a different one.
    public var digests: [PackDigest]
    /// How many bytes this call fetched: fewer than the size when earlier attempts had fetched a part.
    public var fetched: Int
}
