import Foundation
import Waystation
import WaystationPacks

@main
struct App {
    static func main() async throws {
        let packs = try PackLibrary(directory: URL(filePath: "packs"))
        guard let shop = ModuleID("shop") else { return }
        if packs.module(shop) == nil {
            try await packs.install(zip: URL(filePath: "shop-1.0.zip"))  // at the first start
        }
        print(packs.modules.map(\.module))
    }
}
