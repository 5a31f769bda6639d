/// `networkType`, the name of a network condition in the two older formats.
extension NetworkCondition {
    /// The condition for each `networkType`, in lower case.
    ///
    /// `all`, `any` and `0` mean any network. `wifi`, `wlan`, `unmetered` and `1` mean an unmetered one, since the
    /// servers that write these want to avoid cellular traffic. `wired`, `wireless` and `cellular` mean themselves.
    public static let networkTypes: [String: NetworkCondition] = [
        "all": .any, "any": .any, "0": .any, "wifi": .unmetered, "wlan": .unmetered, "unmetered": .unmetered,
        "1": .unmetered, "wired": .wired, "wireless": .wireless, "cellular": .cellular,
    ]

    /// The condition that a `networkType` names.
    init(networkType: String?, in names: [String: NetworkCondition]) {
        self = networkType.map { names[$0.lowercased()] ?? NetworkCondition($0) } ?? .any
    }

    /// The `networkType` that clients of the older formats understand best.
    package var networkType: String { self == .unmetered ? "wifi" : description }
}
