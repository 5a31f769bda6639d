public import Foundation

/// A version of a module that is installed whole.
///
/// Its manifest's digest tells it from another pack under the same number.
public struct LocalPack: Sendable, Hashable {
    /// The version.
    public var version: PackVersion
    /// The SHA-256 of its manifest: the base of a content patch.
    public var manifest: PackDigest?
    /// The digests of the zip that it was installed from, in each algorithm that was computed.
    public var archiveDigests: [PackDigest]
    /// Whether that zip is still there: the base of a zip patch.
    public var isArchiveKept: Bool
    /// Where that zip came from.
    public var archiveURL: URL?

    /// An installed version.
    public init(
        _ version: PackVersion,
        manifest: PackDigest? = nil,
        archiveDigests: [PackDigest] = [],
        isArchiveKept: Bool = false,
        archiveURL: URL? = nil
    ) {
        self.version = version
        self.manifest = manifest
        self.archiveDigests = archiveDigests
        self.isArchiveKept = isArchiveKept
        self.archiveURL = archiveURL
    }
}
