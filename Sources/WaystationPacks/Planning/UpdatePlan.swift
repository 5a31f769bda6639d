public import Foundation

/// What to do about a module.
public struct UpdatePlan: Sendable, Hashable {
    /// The step itself.
    public enum Step: Sendable, Hashable {
        /// Leave everything as it is.
        case nothing(Reason)
        /// Fetch a patch and apply it to an installed version.
        case patch(PatchOffer, base: LocalPack)
        /// Fetch the whole pack.
        case whole(Artifact)
        /// Use a version that is installed already, and switch the module on if it is off.
        case activate(LocalPack)
        /// Switch the module on, so that what is installed answers; then plan again.
        case enable
        /// Switch the module's pack off.
        case disable
    }

    /// Why nothing is done.
    public enum Reason: Sendable, Hashable {
        /// The offered version is in use.
        case upToDate
        /// The version in use is higher than the offered one, and the server orders no rollback.
        case newerInstalled
        /// The source has nothing for the module.
        case nothingOffered
        /// The offered version needs an app of this version or higher.
        case appTooOld(minimum: PackVersion)
        /// The network does not fulfil the condition, or the probe cannot find out whether it does; see
        /// ``UpdatePlanner/allowsUnknownNetwork``.
        case network(NetworkCondition)
        /// The disk has too little room, in bytes.
        case noSpace(needed: Int, available: Int)
        /// Every way to the offered version failed lately; ``FailedUpdate/retryAt`` of the first that may be tried again.
        case failedBefore(retryAt: Date)
        /// The server offers patches alone, and none can be applied here, or each failed before: ask again with
        /// ``UpdateInquiry/forgettingVersion(of:)``, and it offers the whole pack.
        case noUsablePatch
        /// The module is switched off, as the server wants it.
        case alreadyDisabled
    }

    /// The step.
    public var step: Step
    /// Whether the version in use is below the lowest one that may still be served: its pages then load online until
    /// another version is in use.
    public var mustNotServe: Bool
    /// How many bytes will be fetched; 0 for steps that fetch nothing, nil when the source did not say.
    public var downloadSize: Int?

    /// A plan.
    public init(_ step: Step, mustNotServe: Bool, downloadSize: Int? = 0) {
        self.step = step
        self.mustNotServe = mustNotServe
        self.downloadSize = downloadSize
    }
}
