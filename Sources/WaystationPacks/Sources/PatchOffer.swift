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
