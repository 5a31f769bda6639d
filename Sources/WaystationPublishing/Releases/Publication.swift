public import WaystationPacks

/// The result of a publication.
public struct Publication: Sendable {
    /// A patch that was not made or not kept.
    public struct OmittedPatch: Sendable, Hashable {
        /// The kind of bytes that it would have been applied to.
        public var kind: PatchOffer.Kind
        /// The version that it would have been applied to.
        public var from: PackVersion
        /// The reason why the patch was omitted.
        public var reason: String
    }

    /// The module.
    public let module: ModuleID
    /// The release that was published.
    public let release: ReleaseIndex.Release
    /// The share of the clients that get it, 0 to 100.
    public let percentage: Double
    /// Whether the release is new.
    public let isNew: Bool
    /// The patches that were too large to be worth keeping, or could not be made.
    public let omitted: [OmittedPatch]
    /// The index afterwards, with all modules.
    public let index: ReleaseIndex

    /// The releases of the module that ``ReleaseDirectory/prune(_:keeping:signedBy:)`` would remove after this
    /// publication.
    package func pruning(keeping count: Int) throws(PackError) -> Pruning {
        var index = index
        let removed = try index.prune(module, keeping: count)
        if !removed.isEmpty { index.serial &+= 1 }
        return Pruning(removed: removed, index: index)
    }
}
