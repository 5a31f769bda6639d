public import Foundation

/// An update that failed, and the time from which it may be tried again.
public struct FailedUpdate: Sendable, Hashable, Codable {
    /// The way of updating that failed.
    public enum Way: String, Sendable, Hashable, Codable, CaseIterable {
        /// A content patch.
        case contentPatch
        /// A zip patch.
        case zipPatch
        /// The whole pack.
        case whole
        /// The version itself, no matter how it was fetched: the app found it bad.
        case version
    }

    /// The version that a patch was applied to; nil for the other ways.
    public var from: PackVersion?
    /// The version that it leads to; nil when the source does not name it.
    public var to: PackVersion?
    /// The way that failed.
    public var way: Way
    /// The URL that was fetched; it distinguishes failures whose version is not named.
    public var artifact: URL?
    /// The digest of the part that failed: for a file, the one that the offer announced; for a version, the manifest's.
    ///
    /// A file that is announced with another digest is a different file, and is tried at once. Nil when no digest was
    /// announced.
    public var digest: PackDigest?
    /// The digest that the offer announced for the result, such as the manifest's; nil when none was announced.
    public var result: PackDigest?
    /// The number of consecutive failures; 1 or more.
    public var attempts = 1
    /// The time from which the update may be tried again.
    public var retryAt: Date

    /// Makes a failure.
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

    /// Reads a failure; records of earlier releases have no digests and no number of attempts.
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

    /// Whether both failures are of the same way, with the same file and the same result.
    func isOfSameWay(as other: FailedUpdate) -> Bool {
        way == other.way && from == other.from && to == other.to && digest == other.digest && result == other.result
            && (artifact == other.artifact || artifact.map { $0.isSameFile(as: other.artifact) } ?? false)
    }
}

extension URL {
    /// Whether two URLs name the same file, ignoring their queries: some servers sign each URL anew.
    func isSameFile(as other: URL?) -> Bool {
        scheme == other?.scheme && host == other?.host && port == other?.port && path == other?.path
    }
}
