import Foundation
import ShopApp
import ShopServer
import Waystation

extension Walk {
    func offline(_ app: ShopApp, _ shop: Shop) async throws {
        let page = try await app.pages.load(Self.orders)
        try expect(page.isWhole && page.isFromCache && page.html.contains("of ada"), "the page was not stored")
        tell(8, "The server stops: the page behind the login loads from the cache.", shop.takeVisits())
    }

    func logOut(_ app: ShopApp, _ shop: Shop, _ cache: ResponseCache) async throws {
        await app.logOut()
        try expect(app.cookies.cookies.isEmpty && !app.login.isLoggedIn, "cookies remain after the log-out")
        let left = await cache.statistics.entries
        try expect(left == 4, "\(left) responses are stored after the log-out, not the 4 of the public page")
        let home = try await app.pages.load("pages/home")
        try expect(home.isFromCache, "the log-out removed a public page")
        for path in [Self.orders, "pages/orders"] {
            try expect((try? await app.pages.load(path)) == nil, "\(path) opened after the log-out")
        }
        // Loading the page that needs a login showed the form, which cannot be sent offline.
        try expect(person.timesAsked == 2, "the app remembered the credentials after the log-out")
        tell(9, "Logged out, still offline: the public page opens, the private one does not.", shop.takeVisits())
    }

    func somebodyElse(at server: RunningShop, _ shop: Shop, _ cache: ResponseCache) async throws {
        let ben = Person(.ben)
        let app = try app(of: ben, at: server, cache)
        defer { app.close() }
        let page = try await app.pages.load(Self.orders)
        let cart = try await app.pages.load("pages/cart")
        let visits = shop.takeVisits()
        try expect(page.html.contains("of ben") && !page.html.contains("ada"), "ben sees \(page.html)")
        try expect(cart.html.contains("nothing"), "ben has another person's cart")
        let names = Set(visits.flatMap(\.cookies.keys))
        try expect(names == ["token"] && ben.timesAsked == 1, "ben's requests carried \(names.sorted())")
        tell(10, "The server is back, and ben logs in: he sees his own orders, and nothing of ada's.", visits)
    }
}
