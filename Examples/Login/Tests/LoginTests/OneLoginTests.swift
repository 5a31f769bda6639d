import Foundation
import ShopApp
import ShopServer
import Testing
import Waystation

@testable import Login

@Suite("One login for native code and pages", .timeLimit(.minutes(10)))
struct OneLoginTests {
    @Test("a page that is not marked loads with its files, and needs no login")
    func publicPage() async throws {
        let (fixture, ada) = (try await ShopFixture(), Person(.ada))
        defer { fixture.close() }
        let page = try await fixture.app(of: ada).pages.load("pages/home")
        #expect(page.isWhole)
        #expect(Set(page.files.map(\.url.lastPathComponent)) == ["shop.css", "shop.js", "gear.svg"])
        #expect(ada.timesAsked == 0)
        let visits = fixture.shop.takeVisits()
        #expect(visits.count == 4)
        #expect(visits.allSatisfy { $0.cookies.isEmpty && $0.method == "GET" })
    }

    @Test("a link for another app is opened there, and its load ends with an error that says so")
    func otherApp() async throws {
        let (fixture, ada) = (try await ShopFixture(), Person(.ada))
        defer { fixture.close() }
        let app = try fixture.app(of: ada)
        let link = try #require(try await app.pages.load("pages/home").links.first)
        #expect(link.absoluteString == "tel:+44-20-7946-0018")
        _ = fixture.shop.takeVisits()
        let error = await #expect(throws: URLError.self) { try await app.pages.load(link) }
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .openedElsewhere)
        #expect(ada.opened == [link])
        #expect(fixture.shop.takeVisits().isEmpty)
    }

    @Test("marked requests at the same time wait for one sign-in, and carry its token")
    func together() async throws {
        let (fixture, ada) = (try await ShopFixture(), Person(.ada))
        defer { fixture.close() }
        let app = try fixture.app(of: ada)
        let names = ["orders", "wishes", "address"]
        let links = (names + names + names).map { app.pages.url(of: "pages/\($0)?needAuth=true") }
        let pages = try await app.pages.loadAll(links)
        #expect(pages.map(\.resource.url) == links)
        #expect(pages.allSatisfy { $0.isWhole })
        #expect(ada.timesAsked == 1)
        let visits = fixture.shop.takeVisits()
        #expect(visits.signIns == 1)
        #expect(visits.first?.target == "/api/login")
        for name in names {
            let tokens = fixture.tokens(in: visits, at: "/pages/\(name)")
            #expect(!tokens.isEmpty)
            #expect(Set(tokens) == [app.cookies.cookies.first?.value])
        }
    }

    @Test("the first load starts the login, and the other one uses the same token", arguments: [true, false])
    func nativeAndPage(isNativeFirst: Bool) async throws {
        let (fixture, ada) = (try await ShopFixture(), Person(.ada))
        defer { fixture.close() }
        let app = try fixture.app(of: ada)
        if isNativeFirst { #expect(try await app.client.profile().name == "ada") }
        #expect(try await app.pages.load(ShopFixture.orders).html.contains("orders of ada"))
        if !isNativeFirst { #expect(try await app.client.profile().name == "ada") }
        #expect(ada.timesAsked == 1)
        let visits = fixture.shop.takeVisits()
        #expect(visits.signIns == 1)
        #expect(fixture.tokens(in: visits, at: "/api/profile") == fixture.tokens(in: visits, at: "/pages/orders"))
    }

    @Test("a token that the shop revoked is renewed once for all refused requests, without the form")
    func renewal() async throws {
        let (fixture, ada) = (try await ShopFixture(), Person(.ada))
        defer { fixture.close() }
        let app = try fixture.app(of: ada)
        try await app.client.revoke()
        let old = try #require(app.cookies.cookies.first?.value)
        _ = fixture.shop.takeVisits()
        async let page = app.pages.load(ShopFixture.orders)
        async let other = app.pages.load("pages/wishes?needAuth=true")
        async let profile = app.client.profile()
        #expect(try await page.html.contains("orders of ada"))
        #expect(try await other.html.contains("wishes of ada"))
        #expect(try await profile.name == "ada")
        let visits = fixture.shop.takeVisits()
        #expect(visits.signIns == 1)
        #expect(ada.timesAsked == 1)
        #expect(visits.contains { $0.status == 401 && $0.cookies["token"] == old })
        #expect(visits.allSatisfy { $0.status == 401 || $0.cookies["token"] != old })
    }

    @Test("an expired token is replaced before the request is sent")
    func expiry() async throws {
        let (fixture, ada) = (try await ShopFixture(), Person(.ada))
        defer { fixture.close() }
        let app = try fixture.app(of: ada)
        try await app.login.logIn()
        #expect(app.cookies.cookies.first?.expires != nil)
        fixture.advance(by: Shop.tokenLifetime)
        #expect(!app.login.isLoggedIn)
        #expect(try await app.client.profile().name == "ada")
        let visits = fixture.shop.takeVisits()
        #expect(visits.map(\.target) == ["/api/login", "/api/login", "/api/profile"])
        #expect(visits.allSatisfy { $0.status == 200 })
        #expect(ada.timesAsked == 1)
    }

    @Test("a wrong password fails the page without a request for it, and the next load shows the form again")
    func wrongPassword() async throws {
        let (fixture, ada) = (try await ShopFixture(), Person(.ada, password: "guess"))
        defer { fixture.close() }
        let app = try fixture.app(of: ada)
        for count in 1...2 {
            let error = await #expect(throws: URLError.self) { try await app.pages.load(ShopFixture.orders) }
            #expect(error?.code == .userAuthenticationRequired)
            let reason = error?.userInfo[NSUnderlyingErrorKey] as? WaystationError
            #expect(reason?.code == .loginFailed)
            #expect((reason?.cause as? RefusedByShop)?.status == 403)
            #expect(ada.timesAsked == count)
        }
        #expect(fixture.shop.takeVisits().map(\.description) == Array(repeating: "POST /api/login 403", count: 2))
    }
}
