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
