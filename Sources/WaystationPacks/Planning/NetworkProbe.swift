/// Tells which conditions the present network fulfils.
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
    /// Nobody can tell.
    case unknown
}

/// The default: it does not know.
///
/// Linux has no one place that tells what a network costs, and a guess would be worse than none.
/// ``UpdatePlanner/allowsUnknownNetwork`` decides what follows from that.
public struct UnknownNetworkProbe: NetworkProbe {
    /// A probe; it has no state.
    public init() {}

    /// `unknown`, always.
    public func verdict(on condition: NetworkCondition) async -> NetworkVerdict { .unknown }
}
