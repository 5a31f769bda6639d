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

        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/app/**", via: .pack(orElse: .nowhere))]
            $0.packs = packs
        }
        let session = URLSession(configuration: .default.intercepted(by: interceptor))
        let (page, _) = try await session.data(from: home)
        print(String(decoding: page, as: UTF8.self))
    }
}
