import Foundation
import Testing

@testable import WaystationPacks

@Suite("A server's whitelist")
struct WhitelistTests {
    @Test("An entry that is not understood is told of once with its reason, and costs the others nothing")
    func rejected() async throws {
        let fixture = try LibraryFixture()
        let library = try fixture.library()
        try await library.install(folder: fixture.folder(["index.html": "one", "a/b.js": "b"]), as: .shop("1"))
        var offer = ModuleOffer(.shop)
        offer.whitelist = ["not a URL", "https://shop.example/app/a/", ""]
        try await library.take(offer)
        let told = fixture.details.filter { $0.contains("an entry of the whitelist") }
        #expect(told.count == 2)
        #expect(told.contains { $0.contains("not a URL") })
        #expect(fixture.events.filter { $0 == "rejected -" }.count == 2)
        #expect(library.canServeOffline(try #require(URL(string: "https://shop.example/app/a/b.js"))))
        #expect(!library.canServeOffline(try #require(URL(string: "https://shop.example/app/index.html"))))
        try await library.take(offer)
        #expect(fixture.events.filter { $0 == "rejected -" }.count == 2)
    }

    @Test("A folder whose entry is as deep as a pattern may be is told of, and costs the others nothing")
    func deep() {
        let deep = "https://shop.example/" + String(repeating: "a/", count: 2000)
        let whitelist = Whitelist([deep, "https://shop.example/app/"])
        #expect(whitelist.rejected.count <= 1)
        #expect(Whitelist(["https://shop.example/app/"]).rejected.isEmpty)
    }
}
