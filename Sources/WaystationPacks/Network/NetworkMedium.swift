/// What carries the traffic of a network interface.
enum NetworkMedium: Hashable, Sendable {
    case wired
    case wireless
    case cellular
    /// Another interface: this one wraps its traffic, as a VPN does.
    case tunnel
    /// The interface is of a kind that is not known here.
    case unknown
}

extension NetworkMedium {
    /// The media of the IPv4 and of the IPv6 default route; empty where there is none.
    static func ofDefaultRoutes(in files: NetworkFiles) -> Set<NetworkMedium> {
        let families = [
            Route.version4(files.text("/proc/net/route") ?? ""),
            Route.version6(files.text("/proc/net/ipv6_route") ?? ""),
        ]
        let media = Set(families.compactMap { medium(of: $0, in: files) })
        // A tunnel of one family alone runs over the other's interface.
        return media == [.tunnel] ? media : media.subtracting([.tunnel])
    }

    /// The medium of the default route among these; nil where there is none.
    private static func medium(of routes: [Route], in files: NetworkFiles) -> NetworkMedium? {
        // The sort keeps the order of equal metrics.
        let defaults = routes.enumerated().filter { $0.element.isDefault }
            .sorted { ($0.element.metric, $0.offset) < ($1.element.metric, $1.offset) }.map(\.element)
        guard !defaults.isEmpty else { return nil }
        // The packets of a tunnel leave by the next default route, or by one of their own to the tunnel's other end.
        let interfaces = (defaults + routes.filter { !$0.isDefault && $0.hasGateway }).map(\.interface)
        return interfaces.lazy.map { medium(of: $0, in: files) }.first { $0 != .tunnel } ?? .tunnel
    }

    /// The medium of an interface, by what `/sys/class/net` says of it, and by its name where that says nothing.
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
        // What is shared by Bluetooth is a phone's connection, and whatever that is.
        if kind == "bluetooth" { return .unknown }
        guard let type = files.text("\(folder)/type").flatMap({ Int($0.filter(\.isNumber)) }) else {
            if begins(interface, with: ["wl"]) { return .wireless }
            return begins(interface, with: ["en", "eth"]) ? .wired : .unknown
        }
        return switch type {
        case 1, 32: .wired  // ARPHRD_ETHER, ARPHRD_INFINIBAND
        case 801...803: .wireless  // ARPHRD_IEEE80211 and its monitors
        case 768, 769, 776, 778, 823, 65534: .tunnel  // IP in IP, IPv6 in IPv4, GRE, and what has no link layer
        default: .unknown
        }
    }

    /// The drivers of modems, and of phones that share their connection by USB.
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
