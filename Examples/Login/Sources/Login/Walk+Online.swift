import Foundation
import ShopApp
import ShopServer
import Waystation

extension Walk {
    static let orders = "pages/orders?needAuth=true"

    func publicPage(_ app: ShopApp, _ shop: Shop) async throws -> Page {
        let page = try await app.pages.load("pages/home")
        let visits = shop.takeVisits()
        try expect(page.isWhole && page.files.count == 3, "the public page is not whole")
        try expect(person.timesAsked == 0 && signIns(visits) == 0, "a public page asked for a login")
        tell(1, "The app opens a public page: it loads at once, and nobody is asked to log in.", visits)
        return page
    }

    func markedPages(_ links: [URL], _ app: ShopApp, _ shop: Shop) async throws {
        let marked = links.filter { $0.query()?.contains("needAuth=true") == true }
        try expect(marked.count == 3, "the page links to \(links)")
        let pages = try await app.pages.loadAll(marked)
        let visits = shop.takeVisits()
        try expect(pages.allSatisfy { $0.isWhole && $0.html.contains("of ada") }, "a page behind the login is missing")
        try expect(person.timesAsked == 1 && signIns(visits) == 1, "asked \(person.timesAsked) times, not once")
        tell(2, "Three links of it need a login, and are opened at once: the form is shown once for all.", visits)
    }

    func native(_ app: ShopApp, _ shop: Shop) async throws {
        let profile = try await app.client.profile()
        let visits = shop.takeVisits()
        try expect(profile.name == "ada" && signIns(visits) == 0, "the native request did not use the login")
        tell(3, "The app's own code asks who is logged in: \(profile.name), by the same login.", visits)
    }

    func cookieOfPage(_ app: ShopApp, _ shop: Shop) async throws {
        let changes = app.cookies.changes
        let page = try await app.pages.post("item=sextant", to: "pages/cart")
        try expect(page.html.contains("sextant"), "the cart is empty")
        try expect(
            app.cookies.cookies.contains { $0.pair == "cart=sextant" },
            "the app does not have the page's cookie"
        )
        for await change in changes where change.change.cookie.name == "cart" {
            try expect(change.author == .response(app.pages.url(of: "pages/cart")), "\(change.author) set the cart")
            break
        }
        tell(
            4,
            "A page puts a sextant into the cart, a cookie of its own: the app's code hears of it.",
            shop.takeVisits()
        )
    }

    func cookieOfApp(_ app: ShopApp, _ shop: Shop) async throws {
        try app.setTheme("dark")
        let page = try await app.pages.load("pages/cart")
        try expect(page.html.contains(#"<body class="dark">"#), "the page does not know of the theme")
        tell(5, "The app's code sets a cookie, a dark theme: the next page is dark.", shop.takeVisits())
    }

    func renewal(_ app: ShopApp, _ shop: Shop) async throws {
        try await app.client.revoke()
        let page = try await app.pages.load(Self.orders)
        let visits = shop.takeVisits()
        try expect(page.isWhole && page.html.contains("of ada"), "the page did not load with a new token")
        try expect(signIns(visits) == 1 && person.timesAsked == 1, "the token was not renewed once, behind the scenes")
        tell(6, "The shop forgets the token: it is renewed at the first 401, and the page loads; no form.", visits)
    }

    func otherApp(_ links: [URL], _ app: ShopApp, _ shop: Shop) async throws {
        let telephone = links.filter { $0.scheme == "tel" }
        for link in telephone {
            try expect((try? await app.pages.load(link)) == nil, "\(link) was loaded")
        }
        try expect(telephone.count == 1 && person.opened == telephone, "\(person.opened) was opened elsewhere")
        tell(7, "A link to a telephone number is for another app: that one gets it.", shop.takeVisits())
    }
}
