import Foundation
import Testing
import WaystationHTTP

@testable import WaystationPacks

@Suite("A server's whitelist")
struct WhitelistTests {
    @Test("An invalid entry is reported once with its reason, and does not affect the others")
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

    @Test("An entry at the limits of the syntax does not affect the others", arguments: 250...260)
    func bounds(_ depth: Int) throws {
        let deep = "https://shop.example/" + String(repeating: "a/", count: depth)
        let whitelist = Whitelist([deep, "https://shop.example/app/"])
        #expect(whitelist.allows(try #require(CanonicalURL("https://shop.example/app/index.html"))))
        let isUnderstood = whitelist.allows(try #require(CanonicalURL(deep)))
        #expect(whitelist.rejected.isEmpty == isUnderstood)
    }
}
