public import Foundation

/// A version of a module that is installed completely.
///
/// The manifest's digest distinguishes it from another pack with the same version number.
public struct LocalPack: Sendable, Hashable {
    /// The version.
    public var version: PackVersion
    /// The SHA-256 of the version's manifest, by which content patches identify their base.
    public var manifest: PackDigest?
    /// The digests of the zip that it was installed from, in each algorithm that was computed.
    public var archiveDigests: [PackDigest]
    /// Whether that zip is kept; it is the base of a zip patch.
    public var isArchiveKept: Bool
    /// The URL of that zip.
    public var archiveURL: URL?

    /// Describes an installed version.
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
