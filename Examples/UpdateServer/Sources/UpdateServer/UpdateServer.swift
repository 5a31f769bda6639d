import Foundation
import Hummingbird
import Logging
import NIOCore
import WaystationPacks
import WaystationPublishing

/// What a server is made of.
struct ServerSettings: Sendable {
    /// What is served and changed.
    var releases: ReleaseDirectory
    /// The keys that sign the catalogue.
    var keys: [SigningKey]
    /// What allows changes.
    var token: AdminToken
    /// The URL under which clients reach the server; nil takes the one that each asked for.
    var publicURL: URL?
    /// The largest pack that may be published, in bytes; 512 MiB by default.
    var maximumUpload = 512 << 20
    /// How long a client may let the server wait before its connection is closed; 60 seconds by default.
    var clientIdleTimeout = TimeAmount.seconds(60)

    init(releases: ReleaseDirectory, keys: [SigningKey], token: AdminToken) {
        self.releases = releases
        self.keys = keys
        self.token = token
    }
}

/// The release platform: files and answers for clients, a page and an API for those who publish.
///
/// ```
/// GET  /catalogue.json  /packs/…            static files, with ranges and validators
/// POST /modules         GET /package        the two older formats
/// GET  /                                    the page
/// GET  /api/modules                         what is published
/// POST /api/modules/{module}/publish …      changes, with the token
/// ```
struct UpdateServer: Sendable {
    private let settings: ServerSettings
    private let logger: Logger

    init(_ settings: ServerSettings, logger: Logger = Logger(label: "update-server")) {
        self.settings = settings
        self.logger = logger
    }

    /// The application; a catalogue that is missing, or about to expire, is signed before this returns.
    ///
    /// - Parameters:
    ///   - address: Where to listen.
    ///   - started: Called with the port when the server listens.
    /// - Returns: The application, to be run.
    /// - Throws: `PackError` when the release directory cannot be used.
    func application(
        address: BindAddress = .hostname("127.0.0.1", port: 0),
        started: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) async throws -> some ApplicationProtocol {
        let renewal = CatalogueRenewal(releases: settings.releases, keys: settings.keys, logger: logger)
        try await renewal.renew()
        let router = Router()
        router.add(middleware: LogRequestsMiddleware(.info))
        router.add(middleware: ProblemMiddleware())
        try ReleaseFiles(settings.releases.directory).addRoutes(to: router)
        ClientAnswers(releases: settings.releases, publicURL: settings.publicURL).addRoutes(to: router)
        AdminAPI(settings).addRoutes(to: router)
        try BrowserPage().addRoutes(to: router)
        return Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [ClientIdleTimeout(settings.clientIdleTimeout, logger: logger)]
                )
            ),
            configuration: .init(address: address, serverName: "update-server"),
            services: [renewal],
            onServerRunning: { channel in started(channel.localAddress?.port ?? 0) },
            logger: logger
        )
    }
}
