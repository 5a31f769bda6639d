import Foundation
import Hummingbird
import Logging
import NIOCore
import WaystationPacks
import WaystationPublishing

/// The settings of a server.
struct ServerSettings: Sendable {
    /// The releases that the server serves and changes.
    var releases: ReleaseDirectory
    /// The keys that sign the catalogue.
    var keys: [SigningKey]
    /// The token that allows changes.
    var token: AdminToken
    /// The URL under which clients reach the server; nil uses the host that each client requested.
    var publicURL: URL?
    /// The largest pack that may be published, in bytes; 512 MiB by default.
    var maximumUpload = 512 << 20
    /// The longest time for which a client may make the server wait before its connection is closed; 60 seconds by
    /// default.
    var clientIdleTimeout = TimeAmount.seconds(60)
    /// The time and the bytes that one request may take.
    var exchangeBounds = ExchangeBounds.Bounds()

    init(releases: ReleaseDirectory, keys: [SigningKey], token: AdminToken) {
        self.releases = releases
        self.keys = keys
        self.token = token
    }
}

/// The release platform: files and answers for clients, a page and an API for publishers.
///
/// ```
/// GET  /catalogue.json  /packs/…            static files, with ranges and validators
/// POST /modules         GET /package        the two older formats
/// GET  /                                    the page; HEAD is answered as GET everywhere
/// GET  /api/modules                         the published releases
/// POST /api/modules/{module}/publish …      changes, with the token
/// ```
struct UpdateServer: Sendable {
    private let settings: ServerSettings
    private let logger: Logger

    init(_ settings: ServerSettings, logger: Logger = Logger(label: "update-server")) {
        self.settings = settings
        self.logger = logger
    }

    /// Makes the application, and first signs a catalogue that is missing or expires soon.
    ///
    /// - Parameters:
    ///   - address: The address to listen on.
    ///   - started: Called with the port when the server listens.
    /// - Returns: The application, ready to run.
    /// - Throws: `PackError` if the release directory or the bucket cannot be used.
    func application(
        address: BindAddress = .hostname("127.0.0.1", port: 0),
        started: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) async throws -> some ApplicationProtocol {
        var renewal = CatalogueRenewal(releases: settings.releases, keys: settings.keys, logger: logger)
        try await renewal.renew()
        let leftOvers = try await BlockingWork.run { UploadedPack.removeLeftOvers() }
        if leftOvers > 0 { logger.notice("removed \(leftOvers) uploads that a killed server left behind") }
        let router = Router(context: ServerContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: LogRequestsMiddleware(.info))
        router.add(middleware: ProblemMiddleware(settings.releases))
        router.add(middleware: OneHost())
        try BrowserPage().addRoutes(to: router)
        if let bucket = settings.releases.bucket {
            BucketFiles(bucket: bucket).addRoutes(to: router)
        } else {
            let root = try ReleaseRoot(settings.releases.directory, logger: logger)
            renewal.root = root
            router.add(middleware: PresentReleases(root: root))
            ReleaseFiles(root).addRoutes(to: router)
        }
        ClientAnswers(releases: settings.releases, publicURL: settings.publicURL).addRoutes(to: router)
        AdminAPI(settings).addRoutes(to: router)
        router.add(middleware: WrongMethod(router.routes))
        return Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        ClientIdleTimeout(settings.clientIdleTimeout, logger: logger),
                        ExchangeBounds(settings.exchangeBounds, logger: logger),
                    ]
                )
            ),
            configuration: .init(address: address, serverName: "update-server"),
            services: [renewal],
            onServerRunning: { channel in
                channel.eventLoop.execute {
                    // The first of the handlers: NIO's own does not pass errors on.
                    try? channel.pipeline.syncOperations.addHandler(RefusedConnections(logger), position: .first)
                }
                started(channel.localAddress?.port ?? 0)
            },
            logger: logger
        )
    }
}

/// Logs why the server cannot accept a connection, for lack of descriptors for example.
///
/// NIO tries again after a second, and says nothing.
private final class RefusedConnections: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.error("no connection can be accepted", metadata: ["error": "\(error)"])
        context.fireErrorCaught(error)
    }
}
