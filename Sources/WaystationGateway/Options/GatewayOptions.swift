#if Gateway
import Foundation
public import Logging
import NIOCore
public import Waystation
public import WaystationHTTP
import WaystationStorage

@_exported public import protocol WaystationHTTP.CodedError

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
    /// Whether the fields `Forwarded` (RFC 7239), `X-Forwarded-…` and `X-Real-IP` of a request reach the origin; false by
    /// default.
    ///
    /// Proxies write these fields to say for whom they ask, and some origins trust them. With true, every program on
    /// this machine can choose what the origin reads in them: set it only if a proxy in front of the gateway writes them.
    public var passesForwardedFields = false
    /// Whether clients may use the gateway as their proxy; false by default.
    ///
    /// Requests for `http` URLs are answered by the rules. `CONNECT` is answered with a connection to the host, whose
    /// bytes the gateway does not look at, except for the hosts of an ``authority``.
    public var isProxy = false
    /// The authority whose certificates a gateway that is a proxy shows to browsers; nil by default.
    ///
    /// With an authority, the gateway itself answers `CONNECT` to the hosts for which the authority makes certificates,
    /// and the rules answer the `https` URLs that are requested within. Connections to all other hosts stay tunnels. An
    /// authority has an effect only with ``isProxy``.
    public var authority: CertificateAuthority?
    /// Whether the gateway has an inspector; false by default.
    ///
    /// The inspector is a page for developers that shows loads, rules, cache, packs, cookies and events
    /// (``Gateway/inspectorURL``). It keeps the heads of the last 1,000 loads of the interceptor in memory, and the first
    /// 32 KiB of the bodies of the last 100.
    public var inspector = false
    /// Whether absolute links in pages and style sheets lead to the gateway where a rule takes them; false by default.
    ///
    /// With true, `https://shop.example/a` in HTML, XHTML, SVG or CSS becomes the gateway's URL for it, while the body
    /// passes; scripts and all other bytes stay as they are. The targets of the field `Link` lead to the gateway, too.
    /// Without it, such a link leads out of the gateway. A browser refuses a rewritten style sheet whose `link` has an
    /// `integrity`.
    public var rewritesLinks = false
    /// The largest body of a request, in bytes; 1 GiB by default.
    ///
    /// A body is stored, so that it can be sent once more with a renewed token (``Waystation/BodySpool``). One that does
    /// not fit in ``bodySpool``'s memory is sent while it arrives, if the client states its length and the engine on
    /// SwiftNIO sends it; any other body is sent when it has arrived as a whole.
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
    /// The longest time in which no byte passes through a tunnel, in either direction; 15 minutes by default.
    ///
    /// The tunnel is closed then. It is also the longest silence between two events of a stream that a page reads.
    public var tunnelTimeout = Duration.seconds(900)
    /// The longest time in which a client takes nothing of what is sent to it; 5 minutes by default.
    ///
    /// After this time, the load of the response is cancelled, and the connection is closed. A client that reads slowly
    /// is not affected, nor one to which nothing is sent for a while, such as a reader of server-sent events.
    public var deliveryTimeout = Duration.seconds(300)
    /// The log of the gateway; requests that it refuses are in it at the level debug.
    public var logger = Logger(label: "waystation.gateway")

    /// Makes the default options.
    public init() {}
}

/// The reason why a gateway cannot be started.
public struct GatewayError: CodedError {
    /// The kind of a reason; later releases may add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// The address or the port cannot be used.
        public static let notListening = Code(description: "notListening")
        /// The port of the options is no port.
        public static let invalidPort = Code(description: "invalidPort")
        /// The gateway was started before.
        public static let startedBefore = Code(description: "startedBefore")
    }

    /// The kind of the reason.
    public let code: Code
    /// The problem, and how to correct it.
    public let message: String
    /// The error of the system, which the message names; nil if the gateway did not try to listen.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        cause = nil
    }

    init(listening host: String, _ port: Int, _ error: any Error) {
        code = .notListening
        cause = error
        message =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE:
                "port \(port) of \(host) is in use: stop the program that has it, or choose another port"
            case EACCES: "port \(port) of \(host) needs privileges: choose a port from 1024"
            default: "the gateway cannot listen at \(host.shown()), port \(port): \("\(error)".shown(upTo: 1_000))"
            }
    }

    /// Whether the machine lacks the address.
    var isAddressMissing: Bool { [EADDRNOTAVAIL, EAFNOSUPPORT].contains((cause as? IOError)?.errnoCode) }

    /// The code and the message, which also names the cause.
    public var description: String { "\(code): \(message)" }
}
#endif
