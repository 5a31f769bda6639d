public import Foundation

/// The next step for a module.
public struct UpdatePlan: Sendable, Hashable {
    /// The step itself.
    public enum Step: Sendable, Hashable {
        /// Change nothing.
        case nothing(Reason)
        /// Fetch a patch and apply it to an installed version.
        case patch(PatchOffer, base: LocalPack)
        /// Fetch the whole pack.
        case whole(Artifact)
        /// Use a version that is installed already, and switch the module on if it is off.
        case activate(LocalPack)
        /// Switch the module on, so that its installed version answers; then plan again.
        case enable
        /// Switch the module's pack off.
        case disable
    }

    /// The reason to change nothing.
    public enum Reason: Sendable, Hashable {
        /// The offered version is in use.
        case upToDate
        /// The version in use is higher than the offered one, and the server does not order a rollback.
        case newerInstalled
        /// The source has nothing for the module.
        case nothingOffered
        /// The offered version needs an app of this version or higher.
        case appTooOld(minimum: PackVersion)
        /// The network does not fulfil the condition, or the probe cannot find out whether it does; see
        /// ``UpdatePlanner/allowsUnknownNetwork``.
        case network(NetworkCondition)
        /// The disk has too little free space; sizes in bytes.
        case noSpace(needed: Int, available: Int)
        /// Every way to the offered version has failed lately; the value is the earliest ``FailedUpdate/retryAt``.
        case failedBefore(retryAt: Date)
        /// The server offers only patches, and each cannot be applied here or has failed before. A request with
        /// ``UpdateInquiry/forgettingVersion(of:)`` makes the server offer the whole pack.
        case noUsablePatch
        /// The module is already switched off, as the server orders.
        case alreadyDisabled
    }

    /// The step.
    public var step: Step
    /// Whether the version in use is below the lowest one that may still be served; its pages then load online until
    /// another version is in use.
    public var mustNotServe: Bool
    /// The number of bytes to fetch; 0 for steps that fetch nothing, nil when the source did not say.
    public var downloadSize: Int?

    /// Makes a plan.
    public init(_ step: Step, mustNotServe: Bool, downloadSize: Int? = 0) {
        self.step = step
        self.mustNotServe = mustNotServe
        self.downloadSize = downloadSize
    }
}

extension UpdatePlan.Reason {
    /// The reason in words, for a log or a terminal.
    package var explanation: String {
        switch self {
        case .upToDate: "the offered version is in use"
        case .newerInstalled: "a higher version is in use, and the server does not order a rollback"
        case .nothingOffered: "the source offers no version"
        case .appTooOld(let minimum): "the offered version needs version \(minimum) of the app or higher"
        case .network(let condition):
            "the server allows the download only on a network that is \(condition), "
                + "but this one is not, or its kind is unknown"
        case .noSpace(let needed, let available):
            "the update needs \(needed) bytes on the disk, but \(available) are free"
        case .failedBefore(let retryAt):
            "the offered version failed before; the next try is at \(retryAt.formatted(.iso8601))"
        case .noUsablePatch: "the server offers only patches, and none of them can be applied to the version in use"
        case .alreadyDisabled: "the server switched the module off"
        }
    }
}

/// The state of a module, as input for ``UpdatePlanner``.
public struct UpdateSituation: Sendable {
    /// The version in use; nil if the module has no version yet.
    public var active: LocalPack?
    /// Other versions that are installed completely, such as the previous one; of several copies of one version, the
    /// one installed last comes first.
    public var others: [LocalPack]
    /// Whether the server's switch of the module is on; the app's switch has no effect on the plan.
    public var isActive: Bool
    /// Updates that failed before.
    public var failures: [FailedUpdate]
    /// The probe's result for the offer's ``ModuleOffer/network``.
    public var network: NetworkConditionResult
    /// How many bytes are free on the disk of the packs; nil when unknown.
    public var freeSpace: Int?
    /// The app's version.
    public var appVersion: PackVersion
    /// The present.
    public var now: Date

    /// Makes a situation with nothing installed, on an unknown network.
    public init(appVersion: PackVersion, now: Date) {
        self.appVersion = appVersion
        self.now = now
        others = []
        isActive = true
        failures = []
        network = .unknown
    }
}

/// A version of a module that is installed completely.
///
/// The manifest's digest distinguishes it from another pack with the same version number.
public struct LocalPack: Sendable, Hashable {
    /// The version.
    public var version: PackVersion
    /// The SHA-256 of the version's manifest, by which content patches identify their base.
    public var manifest: PackDigest?
    /// The digests of the zip that it was installed from, in each algorithm that was computed.
    public var archiveDigests: [PackDigest]
    /// Whether that zip is kept; it is the base of a zip patch.
    public var isArchiveKept: Bool
    /// The URL of that zip.
    public var archiveURL: URL?

    /// Describes an installed version.
    public init(
        _ version: PackVersion,
        manifest: PackDigest? = nil,
        archiveDigests: [PackDigest] = [],
        isArchiveKept: Bool = false,
        archiveURL: URL? = nil
    ) {
        self.version = version
        self.manifest = manifest
        self.archiveDigests = archiveDigests
        self.isArchiveKept = isArchiveKept
        self.archiveURL = archiveURL
    }
}
