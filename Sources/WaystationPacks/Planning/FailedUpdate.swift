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
    /// The digest of what failed: what the offer announced for the file, or the manifest's for a version.
    ///
    /// A file that is announced with another digest is another one, and is tried at once. Nil where none was announced.
    public var digest: PackDigest?
    /// The digest that the offer announced for what comes out, such as the manifest's; nil where none was announced.
    public var result: PackDigest?
    /// How often it failed, one time after another; 1 or more.
    public var attempts = 1
    /// From when on it may be tried again.
    public var retryAt: Date

    /// A failure.
    public init(
        from: PackVersion? = nil,
        to: PackVersion?,
        way: Way,
        artifact: URL? = nil,
        digest: PackDigest? = nil,
        result: PackDigest? = nil,
        attempts: Int = 1,
        retryAt: Date
    ) {
        self.from = from
        self.to = to
        self.way = way
        self.artifact = artifact
        self.digest = digest
        self.result = result
        self.attempts = attempts
        self.retryAt = retryAt
    }

    /// Reads a failure, also one of an earlier release, which has no digests and no number of attempts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        from = try container.decodeIfPresent(PackVersion.self, forKey: .from)
        to = try container.decodeIfPresent(PackVersion.self, forKey: .to)
        way = try container.decode(Way.self, forKey: .way)
        artifact = try container.decodeIfPresent(URL.self, forKey: .artifact)
        digest = try container.decodeIfPresent(PackDigest.self, forKey: .digest)
        result = try container.decodeIfPresent(PackDigest.self, forKey: .result)
        // Bounded, since a damaged record may hold any number.
        attempts = min(max(1, try container.decodeIfPresent(Int.self, forKey: .attempts) ?? 1), 1_000_000)
        retryAt = try container.decode(Date.self, forKey: .retryAt)
    }

    /// Whether both are failures of one way to one result by one file.
    func isOfSameWay(as other: FailedUpdate) -> Bool {
        way == other.way && from == other.from && to == other.to && digest == other.digest && result == other.result
            && (artifact == other.artifact || artifact.map { $0.isSameFile(as: other.artifact) } ?? false)
    }
}

extension URL {
    /// Whether both name one file, whatever stands in their queries: some servers sign each address anew.
    func isSameFile(as other: URL?) -> Bool {
        scheme == other?.scheme && host == other?.host && port == other?.port && path == other?.path
    }
}
