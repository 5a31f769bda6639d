public import Foundation
public import WaystationPacks

/// What a release directory has published: the file `releases.json`, the publisher's own truth.
///
/// The catalogue that clients fetch is made from it, and so are the answers of servers that speak the older formats.
///
/// ```json
/// {"catalogue":"sha256-5f0c…","expires":"2026-03-08T12:00:00Z","formatVersion":1,"issued":"2026-03-01T12:00:00Z",
///  "keys":["9e107d9d372bb682"],"modules":[{"history":["1.4"],"isActive":true,"live":"1.5","module":"shop",
///  "releases":[…]}],"serial":12}
/// ```
public struct ReleaseIndex: Sendable, Hashable, Codable {
    /// The version of the format that is written and read here.
    public static let currentFormatVersion = 1

    static let maximumSize = 64 << 20

    /// The version of the format.
    public internal(set) var formatVersion = Self.currentFormatVersion
    /// The serial number of the catalogue; 0 before the first.
    public internal(set) var serial: UInt64 = 0
    /// When the catalogue was signed; nil before the first.
    public internal(set) var issued: Date?
    /// From when on clients no longer believe the catalogue; nil before the first.
    public internal(set) var expires: Date?
    /// The names of the keys that signed it.
    public internal(set) var keys: [String] = []
    /// The SHA-256 of the catalogue's file; another file there was not made from this index.
    public internal(set) var catalogue: PackDigest?
    /// The modules, by name.
    public internal(set) var modules: [Module] = []

    /// A module and its releases.
    public struct Module: Sendable, Hashable, Codable {
        /// The module.
        public internal(set) var module: ModuleID
        /// Whether its pack may be used at all.
        public internal(set) var isActive = true
        /// The version that clients should have; nil while there is only one that is being rolled out.
        public internal(set) var live: PackVersion?
        /// The version that a share of the clients gets before it goes live.
        public internal(set) var rollout: Rollout?
        /// The versions that were live before, and to which a rollback leads: lower than ``live``, the highest last.
        public internal(set) var history: [PackVersion] = []
        /// The lowest version that may still be served, as the publisher set it; nil when any may.
        public internal(set) var minimumVersion: PackVersion?
        /// On which network clients download its packs; nil means any.
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

        /// The lowest version that may be served now: as the publisher set it, or as the live release needs it.
        public var lowestUsableVersion: PackVersion? {
            [minimumVersion, release(live)?.minimumPackVersion].compactMap(\.self).max()
        }
    }

    /// A version of a module, with what clients may fetch of it.
    public struct Release: Sendable, Hashable, Codable {
        /// The version.
        public internal(set) var version: PackVersion
        /// When it was published.
        public internal(set) var published: Date
        /// When it was released, as its manifest says.
        public internal(set) var released: Date?
        /// The SHA-256 of its manifest.
        public internal(set) var manifest: PackDigest
        /// How many bytes its files have together.
        public internal(set) var installedSize: Int
        /// How many files it has.
        public internal(set) var fileCount: Int
        /// The URLs at which its root is served.
        public internal(set) var baseURLs: [String]
        /// The lowest version of the app that can use it.
        public internal(set) var minimumAppVersion: PackVersion?
        /// The lowest version of the module that may still be used once this one is live.
        public internal(set) var minimumPackVersion: PackVersion?
        /// The whole pack.
        public internal(set) var archive: File
        /// The shorter ways to it.
        public internal(set) var patches: [Patch]
    }

    /// A patch that leads to a release.
    public struct Patch: Sendable, Hashable, Codable {
        /// What it is applied to.
        public internal(set) var kind: PatchOffer.Kind
        /// The version it is applied to.
        public internal(set) var from: PackVersion
        /// The SHA-256 of what it is applied to.
        public internal(set) var base: PackDigest
        /// The SHA-256 of what comes out.
        public internal(set) var result: PackDigest
        /// The patch itself.
        public internal(set) var file: File
    }

    /// A file that clients fetch.
    public struct File: Sendable, Hashable, Codable {
        /// Its path in the release directory, fit for a URL as it is.
        public internal(set) var path: String
        /// How many bytes it has.
        public internal(set) var size: Int
        /// Its SHA-256.
        public internal(set) var sha256: PackDigest
        /// Its MD5, for clients that know nothing else.
        public internal(set) var md5: PackDigest
    }

    /// An index of nothing.
    init() {}

    /// A module; nil when nothing was ever published for it.
    public subscript(module: ModuleID) -> Module? { modules.first { $0.module == module } }

    /// How many releases there are.
    public var releaseCount: Int { modules.reduce(0) { $0 + $1.releases.count } }
}
