public import Foundation

/// Where a module stands, as ``UpdatePlanner`` needs to know it.
public struct UpdateSituation: Sendable {
    /// The version in use; nil when there is none.
    public var active: LocalPack?
    /// Other versions that are installed whole, such as the previous one; of several copies of one version the one
    /// installed last comes first.
    public var others: [LocalPack]
    /// Whether the server's switch of the module is on; what the app switched off has no effect on the plan.
    public var isActive: Bool
    /// What did not work before.
    public var failures: [FailedUpdate]
    /// What the probe says about the offer's ``ModuleOffer/network``.
    public var network: NetworkVerdict
    /// How many bytes may still be written where packs are kept; nil when nobody knows.
    public var freeSpace: Int?
    /// The app's version.
    public var appVersion: PackVersion
    /// The present.
    public var now: Date

    /// A situation: nothing installed, on a network nobody knows.
    public init(appVersion: PackVersion, now: Date) {
        self.appVersion = appVersion
        self.now = now
        others = []
        isActive = true
        failures = []
        network = .unknown
    }
}
