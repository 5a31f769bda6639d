public import Foundation

/// How far a download has come.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes on disk, those of earlier attempts among them.
    public var completed: Int
    /// Bytes in all; nil while nobody has said.
    public var expected: Int?

    /// A progress.
    public init(completed: Int, expected: Int?) {
        self.completed = completed
        self.expected = expected
    }
}

/// An artifact that has arrived whole.
public struct DownloadedArtifact: Sendable, Hashable {
    /// The file, in the downloader's directory; move it away, or ``ArtifactDownloader/discard(_:)`` it when done.
    public var file: URL
    /// How many bytes it has.
    public var size: Int
    /// Its SHA-256, and its digest in the artifact's own algorithm where that is another.
    public var digests: [PackDigest]
    /// How many bytes this call fetched: fewer than the size when earlier attempts had done a part.
    public var fetched: Int
}
