/// Decides which conditions the present network fulfils.
///
/// An updater uses ``DefaultRouteProbe`` by default.
public protocol NetworkProbe: Sendable {
    /// Returns whether the condition is fulfilled now.
    ///
    /// The library does not ask about ``NetworkCondition/any``, which every network fulfils. May be called on any
    /// thread.
    func verdict(on condition: NetworkCondition) async -> NetworkVerdict
}

/// The verdict of a probe on a condition.
public enum NetworkVerdict: Sendable, Hashable, CaseIterable {
    /// The condition is fulfilled.
    case fulfilled
    /// The condition is not fulfilled.
    case unfulfilled
    /// The probe does not know the condition, or cannot find out the kind of the network;
    /// ``UpdatePlanner/allowsUnknownNetwork`` decides what to do.
    case unknown
}
