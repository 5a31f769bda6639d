public import WaystationPacks

/// The result of removing old releases.
public struct Pruning: Sendable {
    /// A release that was removed.
    public struct Release: Sendable, Hashable {
        /// The release's module.
        public var module: ModuleID
        /// The release's version.
        public var version: PackVersion
    }

    /// The releases that were removed.
    public let removed: [Release]
    /// The index afterwards.
    public let index: ReleaseIndex
}
