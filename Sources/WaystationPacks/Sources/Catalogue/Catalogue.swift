public import Foundation

/// Everything that is published: the versions of all modules, and which of them are live.
///
/// It is static JSON, signed as a whole in a ``SignedEnvelope``, so any file server or CDN can serve it. Dates are in
/// the form of RFC 3339, `2026-11-21T18:00:00Z`; URLs may be relative to the catalogue's own. Unknown members are
/// ignored.
public struct Catalogue: Sendable, Hashable, Codable {
    /// The media type of the envelope's payload.
    public static let mediaType = "application/vnd.waystation.catalogue+json"
    /// The version of the format that this code reads and writes.
    public static let currentFormatVersion = 1

    /// The version of the format.
    public var formatVersion: Int
    /// The catalogue's serial number: higher than that of every earlier catalogue of the publisher.
    public var serial: UInt64
    /// The time when it was signed.
    public var issued: Date
    /// The time from which it is not valid any more.
    public var expires: Date
    /// The modules.
    public var modules: [Module]

    /// Makes a catalogue.
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
        /// Whether the module's pack may be used at all.
        public var isActive: Bool
        /// The version that clients should have; nil when there is none.
        public var live: PackVersion?
        /// The version that a share of the clients should have instead; nil when there is none.
        public var rollout: Rollout?
        /// The lowest version that may still be served; nil when every version may.
        public var minimumVersion: PackVersion?
        /// The lowest version of the app that the releases work with; nil when every version does.
        public var minimumAppVersion: PackVersion?
        /// The network condition of the download; nil means any network.
        public var network: NetworkCondition?
        /// The URLs at which the pack's root is served; nil when the pack's own manifest has them.
        public var baseURLs: [String]?
        /// The releases that can be installed.
        public var releases: [Release]

        /// Makes a module that is switched on.
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
        /// The release date.
        public var released: Date?
        /// The SHA-256 of the version's manifest.
        public var manifest: PackDigest
        /// The installed size in bytes; nil when it was not computed.
        public var installedSize: Int?
        /// The whole pack.
        public var archive: File
        /// The patches that lead to this version; nil when there are none.
        public var patches: [Patch]?

        /// Makes a release.
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
        /// The kind of file that the patch is applied to.
        public var kind: PatchOffer.Kind
        /// The version that the patch is applied to.
        public var from: PackVersion
        /// The digest of the base: of the manifest for a content patch, of the zip for a zip patch.
        public var base: PackDigest
        /// The digest of the result, of the same kind as the base.
        public var result: PackDigest
        /// The patch file.
        public var artifact: File

        /// Makes a patch.
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
        /// The URL, absolute or relative to the catalogue's URL.
        public var url: String
        /// The size in bytes.
        public var size: Int
        /// The SHA-256 of the bytes.
        public var digest: PackDigest

        /// Describes a file.
        public init(url: String, size: Int, digest: PackDigest) {
            self.url = url
            self.size = size
            self.digest = digest
        }
    }
}
