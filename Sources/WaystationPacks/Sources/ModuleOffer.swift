public import Foundation

/// What a source has for one module.
public struct ModuleOffer: Sendable, Hashable {
    /// The module.
    public var module: ModuleID
    /// The version that should be in use; nil when the source does not name it or has none.
    ///
    /// Where there is an archive, its manifest tells the version then.
    public var version: PackVersion?
    /// Whether the module's pack may be used at all; true by default.
    public var isActive: Bool
    /// The lowest version that may still be served; nil when any may.
    public var minimumVersion: PackVersion?
    /// The lowest version of the app that the offered version works with; nil when any does.
    public var minimumAppVersion: PackVersion?
    /// Whether the server wants exactly this version, also in place of a higher one: so it orders a rollback.
    public var isExact: Bool
    /// The whole pack, a zip; nil when there is nothing to fetch.
    public var archive: Artifact?
    /// The digest of the offered version's manifest, when it is known beforehand.
    public var manifest: PackDigest?
    /// How many bytes the version takes when installed, when it is known beforehand.
    public var installedSize: Int?
    /// The shorter ways to the offered version.
    public var patches: [PatchOffer]
    /// On which network to download; any by default.
    public var network: NetworkCondition
    /// The URLs to intercept, as the server wrote them; nil when it said nothing.
    public var whitelist: [String]?
    /// The URLs under which the pack's files are known; empty when the pack's own manifest says it.
    public var baseURLs: [URL]
    /// When the version was released, when it is known.
    public var released: Date?

    /// An offer that says nothing yet but the module.
    public init(_ module: ModuleID, version: PackVersion? = nil, archive: Artifact? = nil) {
        self.module = module
        self.version = version
        self.archive = archive
        isActive = true
        isExact = false
        patches = []
        network = .any
        baseURLs = []
    }
}
