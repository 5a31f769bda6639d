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
    /// The media of the IPv4 and IPv6 default routes; empty when there is none.
    static func ofDefaultRoutes(in files: NetworkFiles) -> Set<NetworkMedium> {
        let families = [
            Route.version4(files.text("/proc/net/route") ?? ""),
            Route.version6(files.text("/proc/net/ipv6_route") ?? ""),
        ]
        let media = Set(families.compactMap { medium(of: $0, in: files) })
        // If only one address family has a tunnel, the tunnel runs over the other family's interface.
        return media == [.tunnel] ? media : media.subtracting([.tunnel])
    }

    /// The medium of the default route among these; nil when there is none.
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
