#if Gateway
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals
import WaystationGateway

/// A gateway that runs until a signal ends it.
struct GatewayRun: Sendable {
    private let gateway: Gateway
    private let pages: [URL]
    private let logger: Logger
    private let isProxy: Bool
    private let authority: CertificateAuthority?
    private let whenStarted: @Sendable (GatewayStart) throws -> Void

    init(
        _ opened: OpenedRules,
        settings: GatewaySettings,
        authority: CertificateAuthority?,
        logger: Logger,
        whenStarted: @escaping @Sendable (GatewayStart) throws -> Void
    ) {
        pages = opened.pages
        isProxy = settings.isProxy ?? false
        self.authority = authority
        self.logger = logger
        self.whenStarted = whenStarted
        gateway = Gateway(opened.interceptor) { options in
            options.logger = logger
            // The command's output names the port, so the log need not.
            options.logger.logLevel = max(logger.logLevel, .debug)
            options.take(settings)
            options.authority = authority
        }
    }

    /// Listens until SIGINT or SIGTERM, and then until the present requests have ended.
    ///
    /// - Throws: `GatewayError` when the port cannot be used; the error of `whenStarted`.
    func untilSignal() async throws {
        var quiet = logger
        // The group itself logs each step of its end.
        quiet.logLevel = .error
        let service = AnnouncedGateway(gateway: gateway) {
            try whenStarted(GatewayStart(gateway, pages: pages, isProxy: isProxy, authority: authority))
        }
        let group = ServiceGroup(services: [service], gracefulShutdownSignals: [.sigint, .sigterm], logger: quiet)
        try await group.run()
    }
}

/// A gateway that reports when it listens.
///
/// It begins to listen within the group of services, which handles signals by then.
private struct AnnouncedGateway: Service {
    let gateway: Gateway
    let whenStarted: @Sendable () throws -> Void

    func run() async throws {
        try await gateway.start()
        do { try whenStarted() } catch {
            await gateway.stop()
            throw error
        }
        try await gateway.run()
    }
}

extension GatewayOptions {
    /// Takes over what a rules file sets.
    mutating func take(_ settings: GatewaySettings) {
        port = settings.port ?? port
        isProxy = settings.isProxy ?? isProxy
        inspector = settings.hasInspector ?? inspector
        rewritesLinks = settings.rewritesLinks ?? rewritesLinks
        forwardsUnclaimed = settings.forwardsUnclaimed ?? forwardsUnclaimed
        passesForwardedFields = settings.passesForwardedFields ?? passesForwardedFields
        maximumBody = settings.maximumBody ?? maximumBody
        maximumConnections = settings.maximumConnections ?? maximumConnections
        requestTimeout = settings.requestTimeout ?? requestTimeout
        idleTimeout = settings.idleTimeout ?? idleTimeout
        tunnelTimeout = settings.tunnelTimeout ?? tunnelTimeout
        deliveryTimeout = settings.deliveryTimeout ?? deliveryTimeout
    }
}

extension GatewayStart {
    fileprivate init(_ gateway: Gateway, pages: [URL], isProxy: Bool, authority: CertificateAuthority?) {
        self.init(
            port: gateway.port ?? 0,
            pages: pages.compactMap { page in gateway.url(for: page).map { Page(url: page, local: $0) } },
            proxy: isProxy ? "http://127.0.0.1:\(gateway.port ?? 0)" : nil,
            authority: authority.map(AuthoritySummary.init),
            inspector: gateway.inspectorURL
        )
    }
}
#endif
