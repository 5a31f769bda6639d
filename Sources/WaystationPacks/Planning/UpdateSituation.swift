public import Foundation

/// A version of a module that is installed whole.
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

/// A way to a version that did not work, and when it may be tried again.
public struct FailedUpdate: Sendable, Hashable, Codable {
    /// What did not work.
    public enum Way: String, Sendable, Hashable, Codable, CaseIterable {
        /// A content patch.
        case contentPatch
        /// A zip patch.
        case zipPatch
        /// The whole pack.
        case whole
        /// The version itself, however it is come by: the app found it bad.
        case version
    }

    /// The version that a patch was applied to; nil for the other ways.
    public var from: PackVersion?
    /// The version it led to; nil when the source does not name it.
    public var to: PackVersion?
    /// What did not work.
    public var way: Way
    /// What was fetched; it tells failures apart where the version is not named.
    public var artifact: URL?
    /// From when on it may be tried again.
    public var retryAt: Date

    /// A failure.
    public init(from: PackVersion? = nil, to: PackVersion?, way: Way, artifact: URL? = nil, retryAt: Date) {
        self.from = from
        self.to = to
        self.way = way
        self.artifact = artifact
        self.retryAt = retryAt
    }
}

/// Where a module stands, as ``UpdatePlanner`` needs to know it.
public struct UpdateSituation: Sendable {
    /// The version in use; nil when there is none.
    public var active: LocalPack?
    /// Other versions that are installed whole, such as the previous one.
    public var others: [LocalPack]
    /// Whether the module's pack is switched on.
    public var isActive: Bool
    /// What did not work before.
    public var failures: [FailedUpdate]
    /// What the probe says about the offer's ``ModuleOffer/network``.
    public var network: NetworkVerdict
    /// How many bytes may still be written where packs are kept; nil when nobody knows.
    public var freeSpace: Int?
    /// The app's version.
    public var appVersion: PackVersion
    /// The present.
    public var now: Date

    /// A situation: nothing installed, on a network nobody knows.
    public init(appVersion: PackVersion, now: Date) {
        self.appVersion = appVersion
        self.now = now
        others = []
        isActive = true
        failures = []
        network = .unknown
    }
}
