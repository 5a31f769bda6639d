import Foundation

/// The kind of network on which something may be downloaded.
public struct NetworkCondition: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The name: one of those below, or one that the app's own ``NetworkProbe`` supports.
    public let description: String

    /// Makes a condition that the app's own ``NetworkProbe`` supports under this name.
    public init(_ name: String) { description = name }

    /// On any network.
    public static let any = NetworkCondition("any")
    /// Only where traffic is free, as on most wired and wireless networks.
    public static let unmetered = NetworkCondition("unmetered")
    /// Only over a cable.
    public static let wired = NetworkCondition("wired")
    /// Only over Wi-Fi.
    public static let wireless = NetworkCondition("wireless")
    /// Only over a mobile network.
    public static let cellular = NetworkCondition("cellular")

    /// Reads the name.
    public init(from decoder: any Decoder) throws {
        description = try decoder.singleValueContainer().decode(String.self)
    }

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The medium that carries the traffic of a network interface.
enum NetworkMedium: Hashable, Sendable {
    case wired
    case wireless
    case cellular
    /// The interface wraps the traffic of another one, as a VPN does.
    case tunnel
    /// The kind of the interface is unknown.
    case unknown
}

extension NetworkMedium {
    /// The media of the IPv4 and IPv6 default routes; empty if the machine has no default route.
    static func ofDefaultRoutes(in files: NetworkFiles) -> Set<NetworkMedium> {
        let families = [
            Route.version4(files.text("/proc/net/route") ?? ""),
            Route.version6(files.text("/proc/net/ipv6_route") ?? ""),
        ]
        let media = Set(families.compactMap { medium(of: $0, in: files) })
        // If only one address family has a tunnel, the tunnel runs over the other family's interface.
        return media == [.tunnel] ? media : media.subtracting([.tunnel])
    }

    /// The medium of the default route among these; nil if no route among them is a default route.
    private static func medium(of routes: [Route], in files: NetworkFiles) -> NetworkMedium? {
        // Including the offset keeps the order of routes with equal metrics.
        let defaults = routes.enumerated().filter { $0.element.isDefault }
            .sorted { ($0.element.metric, $0.offset) < ($1.element.metric, $1.offset) }.map(\.element)
        guard !defaults.isEmpty else { return nil }
        // A tunnel's packets leave by the next default route, or by a separate route to the tunnel's other end.
        let interfaces = (defaults + routes.filter { !$0.isDefault && $0.hasGateway }).map(\.interface)
        return interfaces.lazy.map { medium(of: $0, in: files) }.first { $0 != .tunnel } ?? .tunnel
    }

    /// The medium of an interface according to `/sys/class/net`, or else according to its name.
    static func medium(of interface: String, in files: NetworkFiles) -> NetworkMedium {
        let folder = "/sys/class/net/\(interface)"
        let kind = value(of: "DEVTYPE", in: files.text("\(folder)/uevent"))
        let driver = value(of: "DRIVER", in: files.text("\(folder)/device/uevent"))
        let isModem = kind == "wwan" || driver.map(mobileDrivers.contains) == true
        if isModem || begins(interface, with: ["ww", "ppp", "rmnet"]) { return .cellular }
        if kind == "wlan" || files.exists("\(folder)/wireless") || files.exists("\(folder)/phy80211") {
            return .wireless
        }
        if kind == "wireguard" || files.exists("\(folder)/tun_flags") { return .tunnel }
        // A connection shared over Bluetooth is a phone's, whose own network may be of any kind.
        if kind == "bluetooth" { return .unknown }
        guard let type = files.text("\(folder)/type").flatMap({ Int($0.filter(\.isNumber)) }) else {
            if begins(interface, with: ["wl"]) { return .wireless }
            return begins(interface, with: ["en", "eth"]) ? .wired : .unknown
        }
        return switch type {
        case 1, 32: .wired  // ARPHRD_ETHER, ARPHRD_INFINIBAND
        case 801...803: .wireless  // ARPHRD_IEEE80211 and its monitor interfaces
        case 768, 769, 776, 778, 823, 65534: .tunnel  // IP in IP, IPv6 in IPv4, GRE, others without a link layer
        default: .unknown
        }
    }

    /// The drivers of modems, and of phones that share their connection over USB.
    private static let mobileDrivers: Set<Substring> = [
        "qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "rndis_host", "ipheth",
    ]

    private static func value(of key: String, in uevent: String?) -> Substring? {
        uevent?.split(whereSeparator: \.isNewline).first { $0.hasPrefix(key + "=") }?.dropFirst(key.count + 1)
    }

    private static func begins(_ name: String, with prefixes: [String]) -> Bool {
        prefixes.contains { name.hasPrefix($0) }
    }
}

/// The files in which the kernel describes the network, or a tree of the same form.
struct NetworkFiles: Sendable {
    private static let maximumSize = 1 << 20

    /// Returns the text of a file; nil when it does not exist.
    let text: @Sendable (_ path: String) -> String?
    /// Returns whether a file or folder exists.
    let exists: @Sendable (_ path: String) -> Bool

    /// Files from another source, for tests.
    init(text: @escaping @Sendable (String) -> String?, exists: @escaping @Sendable (String) -> Bool) {
        self.text = text
        self.exists = exists
    }

    /// The files of this machine, or of a tree below `root`.
    init(below root: String = "") {
        self.init(
            text: { Self.read(root + $0) },
            exists: { access(root + $0, F_OK) == 0 }
        )
    }

    /// Reads until the end of the file, since the kernel reports a size of 0 for these files.
    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < maximumSize {
            let count = Foundation.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += part[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Decides which conditions the present network fulfils.
///
/// An updater uses ``DefaultRouteProbe`` by default.
public protocol NetworkProbe: Sendable {
    /// Returns whether the condition is fulfilled now.
    ///
    /// The library does not ask about ``NetworkCondition/any``, which every network fulfils. May be called on any
    /// thread.
    func result(of condition: NetworkCondition) async -> NetworkConditionResult
}

/// The result of a probe for a condition.
public enum NetworkConditionResult: Sendable, Hashable, CaseIterable {
    /// The condition is fulfilled.
    case fulfilled
    /// The condition is not fulfilled.
    case unfulfilled
    /// The probe does not know the condition, or cannot find out the kind of the network;
    /// ``UpdatePlanner/allowsUnknownNetwork`` decides what to do.
    case unknown
}

/// A route of the kernel's main table, reduced to the fields that show which interface traffic leaves by.
struct Route: Hashable, Sendable {
    let interface: String
    /// Whether it is the default route, for all traffic that no other route matches.
    let isDefault: Bool
    /// Whether it leads to a gateway rather than to a neighbour.
    let hasGateway: Bool
    /// The metric; of several routes, the one with the lowest metric is used.
    let metric: UInt32

    /// `RTF_UP`, `RTF_GATEWAY`, `RTF_REJECT` of `linux/route.h`.
    private static let (up, gateway, reject): (UInt32, UInt32, UInt32) = (0x1, 0x2, 0x200)

    private init?(interface: Substring, isDefault: Bool, flags: UInt32, metric: UInt32) {
        guard flags & Self.up != 0, flags & Self.reject == 0, interface != "lo" else { return nil }
        self.interface = String(interface)
        self.isDefault = isDefault
        self.metric = metric
        hasGateway = flags & Self.gateway != 0
    }

    /// The routes in `/proc/net/route`; lines of another form are skipped.
    ///
    /// Columns: interface, destination, gateway, flags, references, uses, metric (decimal), mask, ….
    static func version4(_ text: String) -> [Route] {
        rows(of: text).compactMap { row in
            guard row.count >= 8, let flags = UInt32(row[3], radix: 16), let metric = UInt32(row[6]),
                let destination = UInt32(row[1], radix: 16), let mask = UInt32(row[7], radix: 16)
            else { return nil }
            let isDefault = destination == 0 && mask == 0
            return Route(interface: row[0], isDefault: isDefault, flags: flags, metric: metric)
        }
    }

    /// The routes in `/proc/net/ipv6_route`; lines of another form are skipped.
    ///
    /// Columns: destination, prefix length, source, its prefix length, next hop, metric, references, uses, flags,
    /// interface; all numbers are hexadecimal.
    static func version6(_ text: String) -> [Route] {
        rows(of: text).compactMap { row in
            guard row.count >= 10, let length = UInt32(row[1], radix: 16), let metric = UInt32(row[5], radix: 16),
                let flags = UInt32(row[8], radix: 16)
            else { return nil }
            let isDefault = length == 0 && row[0].allSatisfy { $0 == "0" }
            return Route(interface: row[9], isDefault: isDefault, flags: flags, metric: metric)
        }
    }

    private static func rows(of text: String) -> [[Substring]] {
        text.split(whereSeparator: \.isNewline).map { $0.split(whereSeparator: \.isWhitespace) }
    }
}

/// Classifies the present network as wired, wireless or cellular, by the interface of the default route.
///
/// | Condition | Fulfilled |
/// | --- | --- |
/// | `unmetered` | by cables and Wi-Fi |
/// | `wired`, `wireless`, `cellular` | by that medium alone |
/// | any other name | `unknown`: for the app's own probe |
///
/// The result is also `unknown` when there is no default route, when its interface is of another kind, and when the
/// kernel shows neither routes nor interfaces. If IPv4 and IPv6 use different interfaces, both must fulfil the
/// condition.
///
/// Linux knows the medium but not the price. A phone that is tethered by USB counts as cellular. Wi-Fi that a phone or
/// a train shares counts as unmetered, and so does a cable behind a mobile router. An app that knows better provides
/// its own ``NetworkProbe``.
///
/// The probe sends nothing: for a result it reads a few files below `/proc/net` and `/sys/class/net`.
public struct DefaultRouteProbe: NetworkProbe {
    private let files: NetworkFiles

    /// Makes a probe of this machine; it has no state.
    public init() { self.init(files: NetworkFiles()) }

    /// Makes a probe of the network that these files describe.
    init(files: NetworkFiles) { self.files = files }

    /// The result of the default routes' interfaces for the condition, now.
    public func result(of condition: NetworkCondition) async -> NetworkConditionResult {
        Self.result(of: condition, over: NetworkMedium.ofDefaultRoutes(in: files))
    }

    /// Whether traffic over these media fulfils a condition.
    static func result(of condition: NetworkCondition, over media: Set<NetworkMedium>) -> NetworkConditionResult {
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
