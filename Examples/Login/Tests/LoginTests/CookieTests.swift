import Foundation
import ShopApp
import ShopServer
import Testing
import Waystation

@testable import Login

@Suite("Cookies in both directions", .timeLimit(.minutes(10)))
struct CookieTests {
    @Test("a cookie that a page sets, even by a redirect, reaches the app's code and the next request")
    func ofPages() async throws {
        let fixture = try await ShopFixture()
        defer { fixture.close() }
        let app = try fixture.app(of: Person(.ada))
        let changes = app.cookies.changes
        let page = try await app.pages.post("item=sextant", to: "pages/cart")
        #expect(page.resource.url.path == "/pages/cart")
        #expect(page.html.contains("sextant"))
        let change = await changes.first { _ in true }
        #expect(change?.change.cookie.pair == "cart=sextant")
        #expect(change?.author == .response(app.pages.url(of: "pages/cart")))
        let visits = fixture.shop.takeVisits().prefix(2)
        #expect(visits.map(\.description) == ["POST /pages/cart 303", "GET /pages/cart 200 (cart)"])
        #expect(visits.first?.body == "item=sextant")
    }

    @Test("a cookie that the app's code sets is sent for the next page, and only below its path")
    func ofTheApp() async throws {
        let fixture = try await ShopFixture()
        defer { fixture.close() }
        let app = try fixture.app(of: Person(.ada))
        try app.setTheme("dark")
        #expect(try await app.pages.load("pages/home").html.contains(#"class="dark""#))
        _ = try await app.client.profile()
        let visits = fixture.shop.takeVisits()
        #expect(visits.first?.cookies == ["theme": "dark"])
        #expect(visits.last?.target == "/api/profile")
        #expect(visits.last.map { Set($0.cookies.keys) } == ["token"])
    }
}
