public import Foundation
public import WaystationPacks

/// The publisher's own record of everything that a release directory has published: the file `releases.json`.
///
/// The catalogue that clients fetch is made from this index, and so are the answers of servers that use the older formats.
///
/// ```json
/// {"catalogue":"sha256-5f0c…","expires":"2026-03-08T12:00:00Z","formatVersion":1,"issued":"2026-03-01T12:00:00Z",
///  "keys":["9e107d9d372bb682"],"modules":[{"history":["1.4"],"isActive":true,"live":"1.5","module":"shop",
///  "releases":[…]}],"serial":12}
/// ```
public struct ReleaseIndex: Sendable, Hashable, Codable {
    /// The version of the format that this code reads and writes.
    public static let currentFormatVersion = 1

    static let maximumSize = 64 << 20

    /// The version of the format.
    public internal(set) var formatVersion = Self.currentFormatVersion
    /// The serial number of the catalogue; 0 before the first.
    public internal(set) var serial: UInt64 = 0
    /// The time when the catalogue was signed; nil before the first.
    public internal(set) var issued: Date?
    /// The time from which the catalogue is not valid any more; nil before the first.
    public internal(set) var expires: Date?
    /// The ids of the keys that signed it.
    public internal(set) var keys: [String] = []
    /// The SHA-256 of the catalogue file; a file with another one was not made from this index.
    public internal(set) var catalogue: PackDigest?
    /// The modules, sorted by name.
    public internal(set) var modules: [Module] = []

    /// A module and its releases.
    public struct Module: Sendable, Hashable, Codable {
        /// The module.
        public internal(set) var module: ModuleID
        /// Whether the module's pack may be used at all.
        public internal(set) var isActive = true
        /// The version that clients should have; nil while the first version is being rolled out.
        public internal(set) var live: PackVersion?
        /// The rollout of a version that a share of the clients gets before it becomes live.
        public internal(set) var rollout: Rollout?
        /// The versions that were live before and that a rollback leads to: lower than ``live``, the highest last.
        public internal(set) var history: [PackVersion] = []
        /// The lowest version that may still be served, as the publisher set it; nil when every version may.
        public internal(set) var minimumVersion: PackVersion?
        /// The network condition of clients' downloads; nil means any network.
        public internal(set) var network: NetworkCondition?
        /// All releases, in the order in which they were published.
        public internal(set) var releases: [Release] = []

        init(_ module: ModuleID) { self.module = module }

        /// The release of a version; nil when there is none.
        public func release(_ version: PackVersion?) -> Release? {
            version.flatMap { version in releases.first { $0.version == version } }
        }

        /// The share of the clients that get a version, in per cent.
        func percentage(of version: PackVersion) -> Double {
            if live == version { return 100 }
            return rollout?.version == version ? rollout?.percentage ?? 0 : 0
        }

        /// The lowest version that may be served now: the publisher's minimum or that of the live release, whichever is
        /// higher.
        public var lowestUsableVersion: PackVersion? {
            [minimumVersion, release(live)?.minimumPackVersion].compactMap(\.self).max()
        }
    }

    /// A version of a module, with the files that clients may fetch.
    public struct Release: Sendable, Hashable, Codable {
        /// The version.
        public internal(set) var version: PackVersion
        /// The time of the publication.
        public internal(set) var published: Date
        /// The release date in its manifest.
        public internal(set) var released: Date?
        /// The SHA-256 of its manifest.
        public internal(set) var manifest: PackDigest
        /// The total size of its files in bytes.
        public internal(set) var installedSize: Int
        /// The number of its files.
        public internal(set) var fileCount: Int
        /// The URLs at which its root is served.
        public internal(set) var baseURLs: [String]
        /// The lowest version of the app that can use it.
        public internal(set) var minimumAppVersion: PackVersion?
        /// The lowest version of the module that may still be used once this one is live.
        public internal(set) var minimumPackVersion: PackVersion?
        /// The whole pack.
        public internal(set) var archive: File
        /// The patches that lead to it.
        public internal(set) var patches: [Patch]
    }

    /// A patch that leads to a release.
    public struct Patch: Sendable, Hashable, Codable {
        /// The kind of bytes that the patch is applied to.
        public internal(set) var kind: PatchOffer.Kind
        /// The version that the patch is applied to.
        public internal(set) var from: PackVersion
        /// The SHA-256 of the base.
        public internal(set) var base: PackDigest
        /// The SHA-256 of the result.
        public internal(set) var result: PackDigest
        /// The patch file.
        public internal(set) var file: File
    }

    /// A file that clients fetch.
    public struct File: Sendable, Hashable, Codable {
        /// The path in the release directory; it needs no encoding in a URL.
        public internal(set) var path: String
        /// The size in bytes.
        public internal(set) var size: Int
        /// The SHA-256 of the bytes.
        public internal(set) var sha256: PackDigest
        /// The MD5 of the bytes, for clients that support nothing else.
        public internal(set) var md5: PackDigest
    }

    /// Makes an empty index.
    init() {}

    /// A module; nil when nothing was ever published for it.
    public subscript(module: ModuleID) -> Module? { modules.first { $0.module == module } }

    /// The number of all releases.
    public var releaseCount: Int { modules.reduce(0) { $0 + $1.releases.count } }
}
