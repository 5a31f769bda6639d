public import Foundation

/// One version of a module's pack, on disk and whole.
public struct InstalledPack: Hashable, Sendable {
    /// The module.
    public let module: ModuleID
    /// The version.
    public let version: PackVersion
    /// The folder that holds its files.
    ///
    /// Nothing in it may be changed: every file is compared with its digest before it is served.
    public let root: URL
    /// When it was installed.
    public let installed: Date
    /// The SHA-256 of its manifest, 64 hexadecimal digits.
    public let manifestSHA256: String
    /// The digests of the zip it came from, when it came from one.
    public let archiveDigests: [PackDigest]
    /// What is known of its health.
    public let health: PackHealth
    /// Whether a file was found that is not what the manifest says.
    public let isDamaged: Bool
}

/// What is known of how an installed version does.
public enum PackHealth: Hashable, Sendable {
    /// The app confirmed it, or never had to.
    case confirmed
    /// It is on trial since then, until the app confirms it.
    case trial(since: Date)
    /// The app reported it bad, or did not confirm it in time.
    case bad(reason: String, since: Date)
}

/// A module with its versions.
public struct InstalledModule: Hashable, Sendable {
    /// The module.
    public let module: ModuleID
    /// The version that answers requests, when there is one.
    public let active: InstalledPack?
    /// The version to which a roll-back leads.
    public let previous: InstalledPack?
    /// All versions on disk, the highest first.
    public let versions: [InstalledPack]
    /// Whether the server's switch is on; it is until a server switches the module off.
    public let isEnabledByServer: Bool
    /// Whether the app's switch is on; see ``PackLibrary/setEnabled(_:_:)``.
    public let isEnabledByApp: Bool
    /// The lowest version that may still be used, when the server or a pack names one.
    public let minimumVersion: PackVersion?

    /// Whether the module's packs are used at all: whether both switches are on.
    public var isEnabled: Bool { isEnabledByServer && isEnabledByApp }

    /// Whether its active version answers requests now.
    public var isServing: Bool {
        guard let active, isEnabled else { return false }
        return minimumVersion.map { active.version >= $0 } ?? true
    }
}
