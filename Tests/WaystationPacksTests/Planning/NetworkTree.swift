import Foundation
import WaystationTestSupport

@testable import WaystationPacks

/// A copy of `/proc/net` and `/sys/class/net` on disk, as a machine with these interfaces and routes has them.
struct NetworkTree {
    private let directory: TemporaryDirectory
    private var routes4 = [
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
    ]
    private var routes6 = [
        // Every machine has this: a default route of the loopback interface, which rejects everything.
        "00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 "
            + "ffffffff 00000001 00000000 00200200       lo"
    ]

    init() throws { directory = try TemporaryDirectory() }

    /// The files that a probe reads.
    var files: NetworkFiles { NetworkFiles(below: directory.url.path) }

    /// Adds an interface with these files; a name that ends in `/` is a folder.
    mutating func interface(_ name: String, type: String? = "1", _ files: [String: String] = [:]) throws {
        try put("uevent", files["uevent"] ?? "INTERFACE=\(name)\nIFINDEX=2\n", of: name)
        if let type { try put("type", type + "\n", of: name) }
        for (path, text) in files where path != "uevent" { try put(path, text, of: name) }
    }

    /// Adds an IPv4 route; the destination and the mask are hexadecimal, as the kernel writes them.
    mutating func route4(
        _ interface: String,
        to destination: String = "00000000",
        mask: String = "00000000",
        metric: Int = 0,
        flags: String = "0003"
    ) throws {
        routes4.append("\(interface)\t\(destination)\t010200C0\t\(flags)\t0\t0\t\(metric)\t\(mask)\t0\t0\t0      ")
        try write(routes4.joined(separator: "\n") + "\n", to: "proc/net/route")
    }

    /// Adds a default route of IPv6.
    mutating func route6(_ interface: String, metric: String = "00000400", flags: String = "00000003") throws {
        let zero = String(repeating: "0", count: 32)
        routes6.insert(
            "\(zero) 00 \(zero) 00 fe800000000000000000000000000001 \(metric) 00000001 00000000 \(flags)     \(interface)",
            at: 0
        )
        try write(routes6.joined(separator: "\n") + "\n", to: "proc/net/ipv6_route")
    }

    private func put(_ path: String, _ text: String, of interface: String) throws {
        try write(text, to: "sys/class/net/\(interface)/\(path)")
    }

    func write(_ text: String, to path: String) throws {
        let file = directory.url.appending(path: path)
        let folder = path.hasSuffix("/") ? file : file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if !path.hasSuffix("/") { try Data(text.utf8).write(to: file) }
    }
}
