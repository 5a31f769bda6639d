package import WaystationStorage

/// The options of a gateway that a file may set; see `GatewayOptions`.
package struct GatewaySettings: Hashable, Sendable {
    package var port: Int?
    /// The pages whose names at the gateway are printed.
    package var start: [String] = []
    package var isProxy: Bool?
    package var hasInspector: Bool?
    package var rewritesLinks: Bool?
    package var forwardsUnclaimed: Bool?
    package var passesForwardedFields: Bool?
    package var maximumBody: ByteCount?
    package var maximumConnections: Int?
    package var requestTimeout: Duration?
    package var idleTimeout: Duration?
    package var tunnelTimeout: Duration?
    package var deliveryTimeout: Duration?

    /// Makes settings of which the file has none.
    package init() {}
}

/// The options of a response cache; see `ResponseCache`.
package struct CacheSettings: Hashable, Sendable {
    package var directory: PathSetting?
    package var maximumSize: ByteCount?
    package var maximumAge: Duration?
    package var maximumEntrySize: ByteCount?
    package var memorySize: ByteCount?
    package var storesCodedBodies: Bool?
}

/// A path in a rules file; a relative one is relative to the file's folder.
package struct PathSetting: Hashable, Sendable {
    package let path: String
    package let place: TextPlace
}
