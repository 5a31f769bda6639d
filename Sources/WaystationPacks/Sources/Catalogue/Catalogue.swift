public import Foundation

/// All that is published: which versions of which modules there are, and which one is live.
///
/// It is static JSON, signed as a whole in a ``SignedEnvelope``, so any file server or CDN can serve it. Dates are in the
/// form of RFC 3339, `2026-11-21T18:00:00Z`; URLs may be relative to the catalogue's own. Members that this version does
/// not know are ignored.
public struct Catalogue: Sendable, Hashable, Codable {
    /// The type of the envelope's payload.
    public static let mediaType = "application/vnd.waystation.catalogue+json"
    /// The version of the format that is written and read here.
    public static let currentFormatVersion = 1

    /// The version of the format.
    public var formatVersion: Int
    /// Counts the catalogues of a publisher: each is higher than the one before.
    public var serial: UInt64
    /// When it was signed.
    public var issued: Date
    /// From when on it must not be believed any more.
    public var expires: Date
    /// The modules.
    public var modules: [Module]

    /// A catalogue.
    public init(serial: UInt64, issued: Date, expires: Date, modules: [Module]) {
        formatVersion = Self.currentFormatVersion
        self.serial = serial
        self.issued = issued
        self.expires = expires
        self.modules = modules
    }

    /// A module and its releases.
    public struct Module: Sendable, Hashable, Codable {
        /// The module.
        public var module: ModuleID
        /// Whether its pack may be used at all.
        public var isActive: Bool
        /// The version that clients should have; nil when there is none.
        public var live: PackVersion?
        /// The version that some of them should have instead; nil when there is none.
        public var rollout: Rollout?
        /// The lowest version that may still be served; nil when any may.
        public var minimumVersion: PackVersion?
        /// The lowest version of the app that the releases work with; nil when any does.
        public var minimumAppVersion: PackVersion?
        /// On which network to download; nil means any.
        public var network: NetworkCondition?
        /// The URLs under which the pack's files are known; nil when the pack's own manifest says it.
        public var baseURLs: [String]?
        /// What can be installed.
        public var releases: [Release]

        /// A module, switched on.
        public init(_ module: ModuleID, live: PackVersion? = nil, releases: [Release] = []) {
            self.module = module
            self.live = live
            self.releases = releases
            isActive = true
        }
    }

    /// A version of a module.
    public struct Release: Sendable, Hashable, Codable {
        /// The version.
        public var version: PackVersion
        /// When it was released.
        public var released: Date?
        /// The SHA-256 of its manifest.
        public var manifest: PackDigest
        /// How many bytes it takes when installed; nil when that was not counted.
        public var installedSize: Int?
        /// The whole pack.
        public var archive: File
        /// The shorter ways to it; nil is none.
        public var patches: [Patch]?

        /// A release.
        public init(
            _ version: PackVersion,
            released: Date? = nil,
            manifest: PackDigest,
            installedSize: Int? = nil,
            archive: File,
            patches: [Patch]? = nil
        ) {
            self.version = version
            self.released = released
            self.manifest = manifest
            self.installedSize = installedSize
            self.archive = archive
            self.patches = patches
        }
    }

    /// A patch that leads to a release.
    public struct Patch: Sendable, Hashable, Codable {
        /// What it is applied to.
        public var kind: PatchOffer.Kind
        /// The version it is applied to.
        public var from: PackVersion
        /// The digest of what it is applied to: a manifest's for a content patch, a zip's for a zip patch.
        public var base: PackDigest
        /// The digest of what comes out.
        public var result: PackDigest
        /// The patch itself.
        public var artifact: File

        /// A patch.
        public init(
            _ kind: PatchOffer.Kind,
            from: PackVersion,
            base: PackDigest,
            result: PackDigest,
            artifact: File
        ) {
            self.kind = kind
            self.from = from
            self.base = base
            self.result = result
            self.artifact = artifact
        }
    }

    /// A file that clients fetch.
    public struct File: Sendable, Hashable, Codable {
        /// Where it is, absolute or relative to the catalogue's URL.
        public var url: String
        /// How many bytes it has.
        public var size: Int
        /// The SHA-256 of its bytes.
        public var digest: PackDigest

        /// A file.
        public init(url: String, size: Int, digest: PackDigest) {
            self.url = url
            self.size = size
            self.digest = digest
        }
    }
}
