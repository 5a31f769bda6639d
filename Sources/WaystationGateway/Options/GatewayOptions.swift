#if Gateway
public import Logging
public import Waystation
import WaystationStorage

/// The options of a gateway.
public struct GatewayOptions: Sendable {
    /// The port on the loopback interface; 0, the default, lets the system choose one.
    ///
    /// Browsers keep cookies and service workers by origin, so pages that use them need the same port each time.
    public var port = 0
    /// Whether requests that no rule takes are sent to the network; false by default, which refuses them with 403.
    ///
    /// With true, every program on this machine can reach any host through the gateway.
    public var forwardsUnclaimed = false
    /// Whether clients may use the gateway as their proxy; false by default.
    ///
    /// Requests for `http` URLs are answered by the rules. `CONNECT` is answered with a connection to the host, whose
    /// bytes the gateway does not look at.
    public var isProxy = false
    /// The largest body of a request, in bytes; 1 GiB by default.
    ///
    /// A body is stored until it has arrived as a whole (``Waystation/BodySpool``).
    public var maximumBody = ByteCount.gibibytes(1)
    /// How many bytes of a request's body stay in memory, and the directory for the rest.
    public var bodySpool = BodySpool()
    /// The largest number of connections at a time; 512 by default.
    ///
    /// Further ones are closed.
    public var maximumConnections = 512
    /// The longest time between two parts of a request's body; 30 s by default.
    public var requestTimeout = Duration.seconds(30)
    /// The longest time until the head of the next request has arrived; 75 s by default.
    public var idleTimeout = Duration.seconds(75)
    /// The log of the gateway.
    public var logger = Logger(label: "waystation.gateway")

    /// Makes the default options.
    public init() {}
}
#endif
