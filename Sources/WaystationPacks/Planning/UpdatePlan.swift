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
