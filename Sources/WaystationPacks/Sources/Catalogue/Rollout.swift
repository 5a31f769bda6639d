import Foundation
import WaystationCryptography

/// A version that a share of the clients gets before it becomes live for all.
public struct Rollout: Sendable, Hashable, Codable {
    /// The version.
    public var version: PackVersion
    /// The share of the clients, 0 to 100; two decimal places count.
    public var percentage: Double
    /// A text that decides which clients are chosen; keep it while the percentage grows, so that clients that have the
    /// version keep it.
    public var salt: String

    /// Makes a rollout.
    public init(_ version: PackVersion, percentage: Double, salt: String) {
        self.version = version
        self.percentage = percentage
        self.salt = salt
    }

    /// Whether an installation is among those that get the version.
    ///
    /// The first eight bytes of SHA-256 over `<install id>\n<module>\n<version>\n<salt>`, as a big-endian number modulo
    /// 10,000, are lower than a hundred times the percentage. So the result is always the same, needs no server, and
    /// stays true while the percentage grows.
    public func includes(installID: String, of module: ModuleID) -> Bool {
        let text = "\(installID)\n\(module)\n\(version)\n\(salt)"
        let number = MessageDigest.of(Array(text.utf8)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Double(number % 10_000) < (percentage * 100).rounded()
    }
}
