import Foundation
import ShopApp
import ShopServer
import Testing
import Waystation

@testable import Login

@Suite("Offline, logged out, and a second account", .timeLimit(.minutes(10)))
struct LeavingTests {
    @Test("offline, a stored page behind the login opens; a page that was not stored does not")
    func offline() async throws {
        let fixture = try await ShopFixture()
        defer { fixture.close() }
        let app = try fixture.app(of: Person(.ada))
        let online = try await app.pages.load(ShopFixture.orders)
        #expect(!online.isFromCache)
        await fixture.goOffline()
        let offline = try await app.pages.load(ShopFixture.orders)
        #expect(offline.isWhole && offline.isFromCache)
        #expect(offline.html == online.html)
        #expect(offline.files.count == online.files.count)
        await #expect(throws: URLError.self) { try await app.pages.load("pages/wishes?needAuth=true") }
    }

    @Test("a log-out removes cookies, stored pages and credentials, and keeps public pages")
    func logOut() async throws {
        let (fixture, ada) = (try await ShopFixture(), Person(.ada))
        defer { fixture.close() }
        let app = try fixture.app(of: ada)
        _ = try await app.pages.load("pages/home")
        _ = try await app.pages.load(ShopFixture.orders)
        _ = try await app.pages.post("item=sextant", to: "pages/cart")
        await fixture.goOffline()
        await app.logOut()
        #expect(app.cookies.cookies.isEmpty)
        #expect(await fixture.cache.statistics.entries == 4)
        #expect(try await app.pages.load("pages/home").isFromCache)
        let marked = await #expect(throws: URLError.self) { try await app.pages.load(ShopFixture.orders) }
        #expect(marked?.code == .userAuthenticationRequired)
        #expect(ada.timesAsked == 2)
        await #expect(throws: URLError.self) { try await app.pages.load("pages/orders") }
    }

    @Test("a second account sees nothing of the first, before and after its log-out, online and offline")
    func accounts() async throws {
        let fixture = try await ShopFixture()
        defer { fixture.close() }
        let (ada, ben) = (try fixture.app(of: Person(.ada)), try fixture.app(of: Person(.ben)))
        #expect(try await ada.pages.load(ShopFixture.orders).html.contains("three brass gears"))
        _ = try await ada.pages.post("item=sextant", to: "pages/cart")
        let token = try #require(ada.cookies.cookies.first { $0.name == "token" }?.value)
        _ = fixture.shop.takeVisits()
        #expect(try await ben.pages.load(ShopFixture.orders).html.contains("a silk thread"))
        #expect(try await ben.pages.load("pages/cart").html.contains("nothing"))
        let visits = fixture.shop.takeVisits()
        #expect(visits.signIns == 1)
        #expect(visits.allSatisfy { $0.cookies["token"] != token && $0.cookies["cart"] == nil })
        await fixture.goOffline()
        #expect(try await ada.pages.load(ShopFixture.orders).html.contains("three brass gears"))
        #expect(try await ben.pages.load(ShopFixture.orders).html.contains("a silk thread"))
        await ada.logOut()
        await #expect(throws: URLError.self) { try await ada.pages.load(ShopFixture.orders) }
        #expect(try await ben.pages.load(ShopFixture.orders).isFromCache)
    }
}
