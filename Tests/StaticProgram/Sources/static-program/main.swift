import Foundation
import FoundationNetworking
import Waystation
import WaystationNIO
import WaystationPacks

// static-program FOLDER HTTP HTTPS
//
// HTTP and HTTPS are URLs of pages. With each of the two engines, the program loads the page HTTP twice, a page of the pack
// FOLDER/shop.zip, and the page HTTPS, whose server has a certificate that the machine does not trust. It prints a line for
// each load.
let folder = URL(filePath: CommandLine.arguments[1])
let packs = try PackLibrary(directory: folder.appending(path: "packs"))
_ = try await packs.install(zip: folder.appending(path: "shop.zip"))

for (engine, carrier) in [("Foundation", .urlSession), ("SwiftNIO", .nio)] as [(String, Interceptor.Carrier)] {
    let cache = try ResponseCache(directory: folder.appending(path: "cache-\(engine)"))
    let interceptor = try Interceptor {
        $0.rules = [
            .allow("https://shop.example/**", via: .pack(orElse: .nowhere)),
            .allow("*://*:*/**", via: .cache(.standard)),
        ]
        $0.cache = cache
        $0.packs = packs
        $0.transport = carrier
    }
    let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    let addresses = [
        CommandLine.arguments[2], CommandLine.arguments[2], "https://shop.example/app/", CommandLine.arguments[3],
    ]
    for address in addresses {
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        do {
            let (body, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") ?? "no Cache-Status"
            print("\(engine): \(url.path): \(String(decoding: body, as: UTF8.self)): \(status)")
        } catch  where error.localizedDescription.contains("certificate") {
            print("\(engine): \(url.path): refused: \(error.localizedDescription)")
        }
    }
    await cache.flush()
}
