public import Foundation

/// A source's offer for one module.
public struct ModuleOffer: Sendable, Hashable {
    /// The module.
    public var module: ModuleID
    /// The version that should be in use; nil when the source does not name it or has none.
    ///
    /// If the source does not name it, the manifest in the archive gives the version.
    public var version: PackVersion?
    /// Whether the module's pack may be used at all; true by default.
    public var isActive: Bool
    /// The lowest version that may still be served; nil when every version may.
    public var minimumVersion: PackVersion?
    /// The lowest version of the app that the offered version works with; nil when every version does.
    public var minimumAppVersion: PackVersion?
    /// Whether the server wants exactly this version, even in place of a higher one; it then orders a rollback.
    public var isExact: Bool
    /// The whole pack, a zip; nil when there is nothing to fetch.
    public var archive: Artifact?
    /// The digest of the offered version's manifest, if it is known beforehand.
    public var manifest: PackDigest?
    /// The installed size in bytes, if it is known beforehand.
    public var installedSize: Int?
    /// The patches that lead to the offered version.
    public var patches: [PatchOffer]
    /// The network condition of the download; any network by default.
    public var network: NetworkCondition
    /// The URLs to intercept, as the server wrote them; nil when it did not say.
    public var whitelist: [String]?
    /// The URLs at which the pack's root is served; empty when the pack's own manifest has them.
    public var baseURLs: [URL]
    /// The release date, if known.
    public var released: Date?

    /// Makes an offer with defaults for everything else.
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

/// An offered patch from one version to another, which is smaller than the whole pack.
public struct PatchOffer: Sendable, Hashable {
    /// The kind of bytes that a patch is applied to.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The contents of the installed files, in their canonical order.
        case content
        /// The zip that the pack was installed from.
        case zip
    }

    /// The kind of bytes that the patch is applied to.
    public var kind: Kind
    /// The version that the patch is applied to; nil when the server does not say: then it is the version in the
    /// request.
    public var from: PackVersion?
    /// The digest of the base: of the manifest for a content patch, of the zip for a zip patch.
    public var base: PackDigest?
    /// The digest of the result, of the same kind as ``base``.
    public var result: PackDigest?
    /// The patch file.
    public var artifact: Artifact

    /// Makes an offer of a patch.
    public init(
        _ kind: Kind,
        from: PackVersion? = nil,
        base: PackDigest? = nil,
        result: PackDigest? = nil,
        artifact: Artifact
    ) {
        self.kind = kind
        self.from = from
        self.base = base
        self.result = result
        self.artifact = artifact
    }
}
