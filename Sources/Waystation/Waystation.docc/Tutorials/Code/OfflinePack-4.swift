import Foundation
import FoundationNetworking
import Waystation
import WaystationPacks

@main
struct App {
    static func main() async throws {
        let packs = try PackLibrary(directory: URL(filePath: "packs"))
        guard let shop = ModuleID("shop"), let home = URL(string: "https://shop.example/app/") else { return }
        if packs.module(shop) == nil {
            try await packs.install(zip: URL(filePath: "shop-1.0.zip"))  // at the first start
        }

        if let text = CommandLine.arguments.dropFirst().first, let releaseKey = TrustedKey(text),
            let catalogue = URL(string: "http://127.0.0.1:8000/catalogue.json"), let version = PackVersion("1.0")
        {
            var configuration = PackUpdater.Configuration()
            configuration.healthWindow = .seconds(600)
            let updater = PackUpdater(
                library: packs,
                source: .catalogue(at: catalogue, trusting: [releaseKey]),
                app: AppIdentity(code: "shop", version: version),
                configuration: configuration
            )
            print(try await updater.check())
        }

        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/app/**", via: .pack(orElse: .nowhere))]
            $0.packs = packs
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let (page, response) = try await session.data(from: home)
        print(String(decoding: page, as: UTF8.self))
        if (response as? HTTPURLResponse)?.statusCode == 200 {
            try await packs.confirm(shop)  // the new version works
        }
    }
}
