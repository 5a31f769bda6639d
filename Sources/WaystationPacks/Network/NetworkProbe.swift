/// Knows which conditions the present network fulfils.
///
/// ``DefaultRouteProbe`` is the one that an updater has by default.
public protocol NetworkProbe: Sendable {
    /// Whether the condition is fulfilled now.
    ///
    /// Not asked about ``NetworkCondition/any``, which every network fulfils. May be called on any thread.
    func verdict(on condition: NetworkCondition) async -> NetworkVerdict
}

/// What is known about the present network.
public enum NetworkVerdict: Sendable, Hashable, CaseIterable {
    /// The condition is fulfilled.
    case fulfilled
    /// It is not.
    case unfulfilled
    /// The probe does not know the condition, or cannot find out what network this is;
    /// ``UpdatePlanner/allowsUnknownNetwork`` decides what follows.
    case unknown
}
