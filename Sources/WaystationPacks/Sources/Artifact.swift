public import Foundation

/// A file on a server.
public struct Artifact: Sendable, Hashable {
    /// The URL of the file.
    public var url: URL
    /// The size in bytes, if known.
    public var size: Int?
    /// The digest of the bytes, if known.
    public var digest: PackDigest?

    /// Describes a file.
    public init(url: URL, size: Int? = nil, digest: PackDigest? = nil) {
        self.url = url
        self.size = size
        self.digest = digest
    }
}
