/// Classifies the present network as wired, wireless or cellular, by the interface of the default route.
///
/// | Condition | Fulfilled |
/// | --- | --- |
/// | `unmetered` | by cables and Wi-Fi |
/// | `wired`, `wireless`, `cellular` | by that medium alone |
/// | any other name | `unknown`: for the app's own probe |
///
/// The verdict is also `unknown` when there is no default route, when its interface is of another kind, and when the
/// kernel shows neither routes nor interfaces. If IPv4 and IPv6 use different interfaces, both must fulfil the
/// condition.
///
/// Linux knows the medium but not the price. A phone that is tethered by USB counts as cellular. Wi-Fi that a phone or
/// a train shares counts as unmetered, and so does a cable behind a mobile router. An app that knows better provides
/// its own ``NetworkProbe``.
///
/// The probe sends nothing: for a verdict it reads a few files below `/proc/net` and `/sys/class/net`.
public struct DefaultRouteProbe: NetworkProbe {
    private let files: NetworkFiles

    /// Makes a probe of this machine; it has no state.
    public init() { self.init(files: NetworkFiles()) }

    /// Makes a probe of the network that these files describe.
    init(files: NetworkFiles) { self.files = files }

    /// The verdict of the default routes' interfaces on the condition, now.
    public func verdict(on condition: NetworkCondition) async -> NetworkVerdict {
        Self.verdict(on: condition, over: NetworkMedium.ofDefaultRoutes(in: files))
    }

    /// Whether traffic over these media fulfils a condition.
    static func verdict(on condition: NetworkCondition, over media: Set<NetworkMedium>) -> NetworkVerdict {
        let fitting: Set<NetworkMedium>
        switch condition {
        case .any: return .fulfilled
        case .unmetered: fitting = [.wired, .wireless]
        case .wired: fitting = [.wired]
        case .wireless: fitting = [.wireless]
        case .cellular: fitting = [.cellular]
        default: return .unknown
        }
        let known = media.subtracting([.tunnel, .unknown])
        if !known.isSubset(of: fitting) { return .unfulfilled }
        return media.isEmpty || known != media ? .unknown : .fulfilled
    }
}
