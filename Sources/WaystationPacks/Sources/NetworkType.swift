/// `networkType`, as the two older formats write on which network to download.
extension NetworkCondition {
    /// Which condition each `networkType` names, in lower case.
    ///
    /// `all`, `any` and `0` are any network; `wifi`, `wlan`, `unmetered` and `1` an unmetered one, since the servers that
    /// write these want to spare cellular traffic; `wired`, `wireless` and `cellular` are themselves.
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
