import Foundation
import FoundationNetworking
import ShopServer
import Waystation
import WaystationGateway
import WaystationPacks

/// The kiosk's app: it has no window of its own, but rules for its pages, and a gateway for the browser that shows them.
final class Kiosk: Sendable {
    private static let start = "https://kiosk.example/"

    private let gateway: Gateway
    private let cache: ResponseCache
    private let updater: PackUpdater
    private let lab: URL

    /// Makes the kiosk; ``open()`` starts it.
    ///
    /// - Parameters:
    ///   - servers: The servers of the pages, which need not run.
    ///   - customer: The customer of the shop who is signed in at this kiosk.
    ///   - folder: The folder for the start page, the stored responses and the packs.
    ///   - port: The gateway's port; 0, the default, lets the system choose one.
    /// - Throws: The error of writing the start page, or of opening the cache or the packs.
    init(_ servers: Servers, as customer: Customer, in folder: URL, port: Int = 0) throws {
        let (shop, lab) = (servers.shopURL, servers.labURL)
        let start = folder.appending(path: "start")
        try FileManager.default.createDirectory(at: start, withIntermediateDirectories: true)
        try Data(StartPage.html(shop: shop, lab: lab).utf8).write(to: start.appending(path: "index.html"))

        let cache = try ResponseCache(directory: folder.appending(path: "cache"))
        let packs = try PackLibrary(directory: folder.appending(path: "packs"))
        let signIn = SignIn(address: shop.appending(path: "api/login"), customer: customer)
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("\(Self.start)**", via: .files(in: start, at: Self.start, orElse: .nowhere)),
                .allow("\(lab)**", via: .pack(orElse: .network)),
                .allow("\(shop)pages/**", via: .cache(.networkFirst()), requiresLogin: .marked),
            ]
            $0.cache = cache
            $0.packs = packs
            // The shop has neither TLS nor a host name, so loopback counts as secure, as it does in browsers.
            $0.cookies = CookieStore(rules: CookieRules(isTrustworthyLoopback: true))
            $0.login = LoginSession(
                account: customer.name,
                cookie: .named("token", domain: "127.0.0.1", isHostOnly: true),
                timeout: .seconds(30)
            ) { _ in try await signIn.token() }
        }
        gateway = Gateway(interceptor) {
            $0.port = port
            // The start page names the shop and JupyterLab by their own URLs.
            $0.rewritesLinks = true
        }
        guard let version = PackVersion("1.0") else { throw Unexpected("the app has no version") }
        updater = PackUpdater(
            library: packs,
            source: .catalogue(at: servers.catalogueURL, trusting: [servers.key.trusted]),
            app: AppIdentity(code: "kiosk", version: version)
        )
        (self.cache, self.lab) = (cache, lab)
    }

    /// Starts the gateway.
    ///
    /// - Returns: The URL of the start page for the browser.
    func open() async throws -> URL {
        try await gateway.start()
        guard let url = URL(string: Self.start).flatMap({ gateway.url(for: $0) }) else {
            throw Unexpected("the gateway has no name for the start page")
        }
        return url
    }

    /// Installs the pack that the server offers.
    ///
    /// - Returns: The updater's report about the pack.
    func update() async throws -> ModuleOutcome {
        guard let outcome = try await updater.check(isForced: true).outcomes.first else {
            throw Unexpected("the server offers no pack")
        }
        if case .failed(let error) = outcome.kind { throw error }
        return outcome
    }

    /// Writes everything that is stored to the disk.
    func flush() async { await cache.flush() }

    func close() async { await gateway.stop() }
}

/// A step did not have the expected result.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
