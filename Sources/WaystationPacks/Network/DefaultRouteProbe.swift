/// Judges the present network by the interface of the default route: wired, wireless or cellular.
///
/// | Condition | Fulfilled |
/// | --- | --- |
/// | `unmetered` | by cables and Wi-Fi |
/// | `wired`, `wireless`, `cellular` | by that medium alone |
/// | any other name | `unknown`: it is for a probe of the app's |
///
/// It is `unknown`, too, without a default route, on an interface of another kind, and where the kernel shows neither its
/// routes nor its interfaces. Where IPv4 and IPv6 leave by different interfaces, both must fulfil the condition.
///
/// Linux knows the medium and not the price. A phone that is tethered by USB counts as cellular; Wi-Fi that a phone or a
/// train shares counts as unmetered, and so does a cable behind a mobile router. An app that knows better has a
/// ``NetworkProbe`` of its own.
///
/// Nothing is sent: a verdict reads a few files below `/proc/net` and `/sys/class/net`.
public struct DefaultRouteProbe: NetworkProbe {
    private let files: NetworkFiles

    /// A probe of this machine; it has no state.
    public init() { self.init(files: NetworkFiles()) }

    /// A probe of the network that these files describe.
    init(files: NetworkFiles) { self.files = files }

    /// What the interfaces of the default routes say about the condition, now.
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
