#if NIO
import Foundation
import NIOCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The settings of an engine, made from a session configuration and the transport's options.
struct EngineSettings: Sendable {
    var connectionsPerHost = 6
    var idleLifetime = TimeAmount.seconds(60)
    var connectTimeout = TimeAmount.seconds(15)
    /// How long a body waits for a 100 response (RFC 9110 §10.1.1); libcurl waits as long.
    var continueTimeout = TimeAmount.seconds(1)
    var limits = NIOOptions.Limits()
    var httpVersions = NIOOptions.HTTPVersions.automatic

    init() {}

    init(_ configuration: URLSessionConfiguration, _ options: NIOOptions) {
        connectionsPerHost = configuration.httpMaximumConnectionsPerHost
        idleLifetime = Self.amount(options.idleConnectionLifetime)
        connectTimeout = Self.amount(options.connectTimeout)
        limits = options.limits
        httpVersions = options.httpVersions
    }

    /// A time between 0 and a day.
    private static func amount(_ seconds: TimeInterval) -> TimeAmount {
        .milliseconds(Int64(min(max(seconds.isFinite ? seconds : 86_400, 0), 86_400) * 1000))
    }
}
#endif
