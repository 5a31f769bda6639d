public import Foundation

/// One version of a module's pack that is installed completely.
public struct InstalledPack: Hashable, Sendable {
    /// The module.
    public let module: ModuleID
    /// The version.
    public let version: PackVersion
    /// The folder that holds its files.
    ///
    /// Do not change anything in it: each file is compared with its digest before it is served.
    public let root: URL
    /// The time of the installation.
    public let installed: Date
    /// The SHA-256 of its manifest, 64 hexadecimal digits.
    public let manifestSHA256: String
    /// The digests of the zip that it was installed from; empty when it was not installed from a zip.
    public let archiveDigests: [PackDigest]
    /// The health of the version: confirmed, on trial or bad.
    public let health: PackHealth
    /// Whether a file was found that does not match the manifest.
    public let isDamaged: Bool
}

/// The health of an installed version.
public enum PackHealth: Hashable, Sendable {
    /// The app confirmed the version, or did not need to.
    case confirmed
    /// The version is on trial since this date, until the app confirms it.
    case trial(since: Date)
    /// The app reported the version as bad, or did not confirm it in time.
    case bad(reason: String, since: Date)
}

/// A module and its installed versions.
public struct InstalledModule: Hashable, Sendable {
    /// The module.
    public let module: ModuleID
    /// The version that answers requests, if there is one.
    public let active: InstalledPack?
    /// The version that a roll-back activates.
    public let previous: InstalledPack?
    /// All versions on disk, the highest first.
    public let versions: [InstalledPack]
    /// Whether the server's switch is on; it is on until a server switches the module off.
    public let isEnabledByServer: Bool
    /// Whether the app's switch is on; see ``PackLibrary/setEnabled(_:_:)``.
    public let isEnabledByApp: Bool
    /// The lowest version that may still be used, if the server or a pack names one.
    public let minimumVersion: PackVersion?

    /// Whether the module's packs are used at all, which needs both switches to be on.
    public var isEnabled: Bool { isEnabledByServer && isEnabledByApp }

    /// Whether the module's active version answers requests now.
    public var isServing: Bool {
        guard let active, isEnabled else { return false }
        return minimumVersion.map { active.version >= $0 } ?? true
    }
}
