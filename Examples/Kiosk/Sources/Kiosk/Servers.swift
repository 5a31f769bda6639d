import Foundation
import ShopServer
import WaystationPacks
import WaystationPublishing
import WaystationTestSupport

/// The servers of the kiosk's pages: the shop, and nginx with JupyterLab and its packs.
final class Servers: Sendable {
    /// The key that signs the catalogue of packs.
    let key: SigningKey
    private let shop = Shop()
    private let runningShop: RunningShop
    private let nginx: Nginx

    /// Starts the servers; returns when they answer.
    ///
    /// - Parameters:
    ///   - lab: The folder of JupyterLab as a static app, which is served as it is, and published as a pack.
    ///   - version: The version of the pack.
    ///   - scratch: An empty folder.
    /// - Throws: ``Unexpected`` if there is no JupyterLab in the folder, or the reason why a server does not start.
    init(lab: URL, version: String, in scratch: URL) async throws {
        key = try SigningKey.generate()
        runningShop = try await RunningShop(shop)
        nginx = try Nginx(directives: "types { \(Self.types) }")
        let site = nginx.root.appending(path: "lab")
        guard FileManager.default.fileExists(atPath: lab.appending(path: "lab/index.html").path) else {
            throw Unexpected("\(lab.path) is not JupyterLab as a static app: make web-apps builds it")
        }
        try FileManager.default.copyItem(at: lab, to: site)
        guard let module = ModuleID("jupyterlab"), let version = PackVersion(version) else {
            throw Unexpected("\(version) is not a version: use numbers with dots between them")
        }
        let pack = scratch.appending(path: "jupyterlab.zip")
        let description = PackDescription(module: module, version: version, baseURLs: [labURL.absoluteString])
        try PackBuilder.build(folder: site, as: description, to: pack)
        try await ReleaseDirectory(nginx.root.appending(path: "releases")).publish(zip: pack, signedBy: [key])
    }

    /// The addresses of the shop, of JupyterLab, and of the catalogue of packs.
    var shopURL: URL { runningShop.url }
    var labURL: URL { nginx.url("lab/") }
    var catalogueURL: URL { nginx.url("releases/catalogue.json") }

    /// The requests that the shop received since the last call, in one line.
    func takeVisits() -> String { Visit.summary(of: shop.takeVisits()) }

    /// Stops the servers, so that every later request to them fails.
    func stop() async {
        await runningShop.stop()
        nginx.stop()
    }

    private static let types = """
        text/html html; text/css css; text/javascript js; application/json json ipynb; image/svg+xml svg; image/png png;
        image/x-icon ico; font/woff woff; font/woff2 woff2; font/ttf ttf; application/wasm wasm;
        """
}
