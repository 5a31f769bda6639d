public import Foundation

/// The state of a module, as input for ``UpdatePlanner``.
public struct UpdateSituation: Sendable {
    /// The version in use; nil when there is none.
    public var active: LocalPack?
    /// Other versions that are installed completely, such as the previous one; of several copies of one version, the
    /// one installed last comes first.
    public var others: [LocalPack]
    /// Whether the server's switch of the module is on; the app's switch has no effect on the plan.
    public var isActive: Bool
    /// Updates that failed before.
    public var failures: [FailedUpdate]
    /// The probe's verdict on the offer's ``ModuleOffer/network``.
    public var network: NetworkVerdict
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
