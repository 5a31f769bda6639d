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
/// GET  /                                    the page
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
        let renewal = CatalogueRenewal(releases: settings.releases, keys: settings.keys, logger: logger)
        try await renewal.renew()
        let router = Router()
        router.add(middleware: LogRequestsMiddleware(.info))
        router.add(middleware: ProblemMiddleware(settings.releases))
        if let bucket = settings.releases.bucket {
            BucketFiles(bucket: bucket).addRoutes(to: router)
        } else {
            try ReleaseFiles(settings.releases.directory).addRoutes(to: router)
        }
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
