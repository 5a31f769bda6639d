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
