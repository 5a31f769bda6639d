/// A way from one version to another that is shorter than the whole pack.
public struct PatchOffer: Sendable, Hashable {
    /// What a patch is applied to.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The contents of the installed files, in their canonical order.
        case content
        /// The zip that the pack was installed from.
        case zip
    }

    /// What it is applied to.
    public var kind: Kind
    /// The version it is applied to; nil when the server does not say, and means the one that it was told.
    public var from: PackVersion?
    /// The digest of what it is applied to: of the manifest for a content patch, of the zip for a zip patch.
    public var base: PackDigest?
    /// The digest of what comes out, of the same kind as ``base``.
    public var result: PackDigest?
    /// The patch itself.
    public var artifact: Artifact

    /// A patch.
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
