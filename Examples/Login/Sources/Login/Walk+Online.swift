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
        try expect(person.timesAsked == 0 && signIns(visits) == 0, "a public page started a login")
        tell(1, "The app opens a public page: it loads without a login.", visits)
        return page
    }

    func markedPages(_ links: [URL], _ app: ShopApp, _ shop: Shop) async throws {
        let marked = links.filter { $0.query()?.contains("needAuth=true") == true }
        try expect(marked.count == 3, "the page links to \(links)")
        let pages = try await app.pages.loadAll(marked)
        let visits = shop.takeVisits()
        try expect(pages.allSatisfy { $0.isWhole && $0.html.contains("of ada") }, "a page behind the login is missing")
        try expect(person.timesAsked == 1 && signIns(visits) == 1, "form shown \(person.timesAsked) times, not once")
        tell(2, "Three of its links need a login and are opened together: the form is shown once for all.", visits)
    }

    func native(_ app: ShopApp, _ shop: Shop) async throws {
        let profile = try await app.client.profile()
        let visits = shop.takeVisits()
        try expect(profile.name == "ada" && signIns(visits) == 0, "the native request did not use the login")
        tell(3, "The app's own code asks who is logged in: \(profile.name), through the same login.", visits)
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
            "A page puts a sextant into the cart, which is a cookie: the app's code gets the change.",
            shop.takeVisits()
        )
    }

    func cookieOfApp(_ app: ShopApp, _ shop: Shop) async throws {
        try app.setTheme("dark")
        let page = try await app.pages.load("pages/cart")
        try expect(page.html.contains(#"<body class="dark">"#), "the page does not have the theme")
        tell(5, "The app's code sets a cookie for a dark theme: the next page is dark.", shop.takeVisits())
    }

    func renewal(_ app: ShopApp, _ shop: Shop) async throws {
        try await app.client.revoke()
        let page = try await app.pages.load(Self.orders)
        let visits = shop.takeVisits()
        try expect(page.isWhole && page.html.contains("of ada"), "the page did not load with a new token")
        try expect(signIns(visits) == 1 && person.timesAsked == 1, "the token was not renewed once without the form")
        tell(6, "The shop revokes the token: the app renews it at the first 401, and shows no form.", visits)
    }

    func otherApp(_ links: [URL], _ app: ShopApp, _ shop: Shop) async throws {
        let telephone = links.filter { $0.scheme == "tel" }
        for link in telephone {
            try expect((try? await app.pages.load(link)) == nil, "\(link) was loaded")
        }
        try expect(telephone.count == 1 && person.opened == telephone, "\(person.opened) was opened elsewhere")
        tell(7, "A link to a telephone number belongs to another app, which opens it.", shop.takeVisits())
    }
}
