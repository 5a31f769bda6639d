import Foundation
import Testing

@testable import WaystationPacks

@Suite("The network by its default route")
struct DefaultRouteProbeTests {
    private func results(_ tree: NetworkTree) async -> [NetworkConditionResult] {
        let probe = DefaultRouteProbe(files: tree.files)
        var results: [NetworkConditionResult] = []
        for condition in [NetworkCondition.unmetered, .wired, .wireless, .cellular] {
            results.append(await probe.result(of: condition))
        }
        return results
    }

    private static let wired: [NetworkConditionResult] = [.fulfilled, .fulfilled, .unfulfilled, .unfulfilled]
    private static let wireless: [NetworkConditionResult] = [.fulfilled, .unfulfilled, .fulfilled, .unfulfilled]
    private static let cellular: [NetworkConditionResult] = [.unfulfilled, .unfulfilled, .unfulfilled, .fulfilled]
    private static let unknown: [NetworkConditionResult] = Array(repeating: .unknown, count: 4)

    @Test(
        "the kernel's properties, then its name, tell whether an interface is wired, wireless or cellular",
        arguments: [
            ("eth0", "1", [:], wired), ("enp3s0", "1", [:], wired), ("br0", "1", ["uevent": "DEVTYPE=bridge\n"], wired),
            ("ib0", "32", [:], wired), ("enp3s0", nil, [:], wired), ("eth0", nil, [:], wired),
            ("wlan0", "1", ["wireless/": ""], wireless), ("net0", "1", ["phy80211/": ""], wireless),
            ("net0", "1", ["uevent": "DEVTYPE=wlan\nINTERFACE=net0\n"], wireless), ("wlp2s0", nil, [:], wireless),
            ("wwan0", "1", [:], cellular), ("wwp0s20f0u6", "65534", [:], cellular), ("ppp0", "512", [:], cellular),
            ("rmnet_data0", "519", [:], cellular),
            ("net0", "1", ["uevent": "INTERFACE=net0\nDEVTYPE=wwan\n"], cellular),
            ("usb0", "1", ["device/uevent": "DEVTYPE=usb_interface\nDRIVER=rndis_host\n"], cellular),
            ("bnep0", "1", ["uevent": "DEVTYPE=bluetooth\n"], unknown),
            ("tun0", "65534", ["tun_flags": "0x1\n"], unknown),
            ("tap0", "1", ["tun_flags": "0x2\n"], unknown), ("x25", "271", [:], unknown),
            ("strange", nil, [:], unknown),
            ("eth0", "no number", [:], wired),
        ] as [(String, String?, [String: String], [NetworkConditionResult])]
    )
    func media(name: String, type: String?, files: [String: String], expected: [NetworkConditionResult]) async throws {
        for family in [4, 6] {
            var tree = try NetworkTree()
            try tree.interface(name, type: type, files)
            if family == 4 { try tree.route4(name) } else { try tree.route6(name) }
            #expect(await results(tree) == expected, "IPv\(family)")
        }
    }

    @Test("the default route with the lowest metric counts, in any order")
    func metrics() async throws {
        var tree = try NetworkTree()
        try tree.interface("wwan0")
        try tree.interface("eth0")
        try tree.route4("wwan0", metric: 700)
        try tree.route4("eth0", metric: 100)
        #expect(await results(tree) == Self.wired)
        try tree.route6("wwan0", metric: "00000400")
        try tree.route6("eth0", metric: "00000064")
        #expect(await results(tree) == Self.wired)
    }

    @Test("if IPv4 and IPv6 use different interfaces, both must fulfil the condition")
    func families() async throws {
        var tree = try NetworkTree()
        try tree.interface("wlan0", ["phy80211/": ""])
        try tree.interface("wwan0")
        try tree.route4("wlan0")
        try tree.route6("wwan0")
        #expect(await results(tree) == Array(repeating: .unfulfilled, count: 4))
    }

    @Test(
        "routes to neighbours, halves of the network, rejecting routes and routes that are down are not default routes"
    )
    func noDefault() async throws {
        var tree = try NetworkTree()
        try tree.interface("wwan0")
        try tree.interface("eth0")
        try tree.route4("wwan0", to: "000200C0", mask: "00FFFFFF", flags: "0001")
        try tree.route4("wwan0", to: "00000000", mask: "00000080")
        try tree.route4("wwan0", flags: "0002")
        try tree.route4("wwan0", flags: "0203")
        try tree.route6("wwan0", flags: "00200200")
        #expect(await results(tree) == Self.unknown)
        try tree.route4("eth0", metric: 9000)
        #expect(await results(tree) == Self.wired)
    }

    @Test("a tunnel counts as the interface that carries it: the next default route, or the route to its other end")
    func tunnels() async throws {
        for isNextDefault in [true, false] {
            var tree = try NetworkTree()
            try tree.interface("tun0", type: "65534", ["tun_flags": "0x1\n"])
            try tree.interface("wwan0")
            try tree.route4("tun0", metric: 50)
            if isNextDefault {
                try tree.route4("wwan0", metric: 700)
            } else {
                try tree.route4("wwan0", to: "0A0B0C0D", mask: "FFFFFFFF", flags: "0007")
            }
            #expect(await results(tree) == Self.cellular)
        }
        var tree = try NetworkTree()
        try tree.interface("wg0", type: "65534", ["uevent": "DEVTYPE=wireguard\n"])
        try tree.interface("eth0")
        try tree.route6("wg0")
        try tree.route4("eth0")
        #expect(await results(tree) == Self.wired)
    }

    @Test("without the files, and with files of another form, the network is unknown")
    func nothing() async throws {
        let tree = try NetworkTree()
        #expect(await results(tree) == Self.unknown)
        for text in ["", "\n\n", "eth0", "eth0\tx\ty\tz\t0\t0\tq\tr\n", String(repeating: "0 ", count: 9)] {
            try tree.write(text, to: "proc/net/route")
            try tree.write(text, to: "proc/net/ipv6_route")
            #expect(await results(tree) == Self.unknown)
        }
    }

    @Test("a condition with another name needs a probe of the app, and any network needs no probe")
    func names() async throws {
        var tree = try NetworkTree()
        try tree.interface("eth0")
        try tree.route4("eth0")
        let probe = DefaultRouteProbe(files: tree.files)
        #expect(await probe.result(of: NetworkCondition("x-office")) == .unknown)
        #expect(await probe.result(of: .any) == .fulfilled)
    }

    @Test("the kernel's own files are read whole, although they report a size of 0")
    func thisMachine() throws {
        let files = NetworkFiles()
        #expect(files.text("/proc/self/status")?.contains("Pid:") == true)
        #expect(files.text("/proc/self/none") == nil)
        #expect(files.exists("/proc/self/status") && !files.exists("/proc/self/none"))
    }
}
