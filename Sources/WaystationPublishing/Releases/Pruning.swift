public import WaystationPacks

/// The releases that a pruning removed from a release directory, and those that stay.
public struct Pruning: Sendable {
    /// A release that is gone.
    public struct Release: Sendable, Hashable {
        /// Its module.
        public var module: ModuleID
        /// Its version.
        public var version: PackVersion
    }

    /// The releases that are gone.
    public let removed: [Release]
    /// What is published now.
    public let index: ReleaseIndex
}
