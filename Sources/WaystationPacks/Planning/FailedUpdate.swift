public import Foundation

/// A way to a version that did not work, and when it may be tried again.
public struct FailedUpdate: Sendable, Hashable, Codable {
    /// What did not work.
    public enum Way: String, Sendable, Hashable, Codable, CaseIterable {
        /// A content patch.
        case contentPatch
        /// A zip patch.
        case zipPatch
        /// The whole pack.
        case whole
        /// The version itself, however it is come by: the app found it bad.
        case version
    }

    /// The version that a patch was applied to; nil for the other ways.
    public var from: PackVersion?
    /// The version it led to; nil when the source does not name it.
    public var to: PackVersion?
    /// What did not work.
    public var way: Way
    /// What was fetched; it tells failures apart where the version is not named.
    public var artifact: URL?
    /// From when on it may be tried again.
    public var retryAt: Date

    /// A failure.
    public init(from: PackVersion? = nil, to: PackVersion?, way: Way, artifact: URL? = nil, retryAt: Date) {
        self.from = from
        self.to = to
        self.way = way
        self.artifact = artifact
        self.retryAt = retryAt
    }
}
