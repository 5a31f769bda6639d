public import Foundation

/// A file on a server.
public struct Artifact: Sendable, Hashable {
    /// Where it is.
    public var url: URL
    /// How many bytes it has, when that is known.
    public var size: Int?
    /// The digest of its bytes, when that is known.
    public var digest: PackDigest?

    /// A file.
    public init(url: URL, size: Int? = nil, digest: PackDigest? = nil) {
        self.url = url
        self.size = size
        self.digest = digest
    }
}
