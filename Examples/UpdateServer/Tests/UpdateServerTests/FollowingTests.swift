import Foundation
import Testing
import WaystationPacks
import WaystationPublishing

@testable import UpdateServer

@Suite("Clients over a socket")
struct FollowingTests {
    @Test(
        "follow a publication by patch, a rollback, and a switch, in every format",
        arguments: ["catalogue", "modules", "single"]
    )
    func follow(format: String) async throws {
        let platform = try Platform()
        let shop = try #require(ModuleID("shop"))
        try await platform.publish("1.0")
        try await platform.server().ask { client in
            let base = try #require(URL(string: "http://localhost:\(client.port)/"))
            let source: any PackSource =
                switch format {
                case "catalogue":
                    CatalogueSource(base.appending(path: "catalogue.json"), trusting: [platform.key.trusted])
                case "modules": ModuleListSource(base.appending(path: "modules"))
                default: SinglePackSource(base.appending(path: "package"), module: shop)
                }
            let library = try PackLibrary(directory: platform.folder.appending(path: "library"))
            let updater = PackUpdater(
                library: library,
                source: source,
                app: AppIdentity(code: "shop", version: try #require(PackVersion("2.0")))
            )
            func check() async throws -> ModuleOutcome.Kind? {
                try await updater.check(isForced: true).outcomes.first?.kind
            }
            func active() -> String? {
                library.module(shop).flatMap { $0.isServing ? $0.active?.version.description : nil }
            }

            _ = try await check()
            #expect(active() == "1.0")

            try await platform.publish("1.1")
            guard case .updated(let way, let fetched, _) = try await check() else {
                Issue.record("not updated")
                return
            }
            #expect(active() == "1.1")
            #expect(way == (format == "catalogue" ? .contentPatch : .zipPatch))
            #expect(fetched < 5_000)

            try await platform.releases.rollBack(shop, signedBy: [platform.key])
            _ = try await check()
            #expect(active() == "1.0")

            try await platform.releases.disable(shop, signedBy: [platform.key])
            _ = try await check()
            #expect(active() == nil)

            try await platform.releases.enable(shop, signedBy: [platform.key])
            _ = try await check()
            #expect(active() == "1.0")
        }
    }
}
