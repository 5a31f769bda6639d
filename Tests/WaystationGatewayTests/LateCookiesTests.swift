#if Gateway
import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationTesting

@Suite("A browser whose cookies are behind those of the app", .timeLimit(.minutes(10)))
struct LateCookiesTests {
    private let store = CookieStore()

    private func cookie(_ name: String, _ value: String) throws -> Cookie {
        try Cookie(name: name, value: value, domain: "shop.example", isHostOnly: true, creation: Date())
    }

    /// A browser that has got the app's cookie `t=v0` and sent it back, and the cookies of a request that waits in it.
    private func waitingRequest() async throws -> (GatewayFixture, CookieBrowser, cookies: [String]) {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        try store.insert(cookie("t", "v0"))
        browser.take(try await fixture.get("/a"))
        let cookies = browser.field
        browser.take(try await fixture.get("/a", cookies))
        return (fixture, browser, cookies)
    }

    @Test("does not bring an old value back by a request that has waited in it")
    func waited() async throws {
        var (fixture, browser, waiting) = try await waitingRequest()
        try store.insert(cookie("t", "v1"))
        browser.take(try await fixture.get("/a", browser.field))
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["t"] == "v1")
        _ = try await fixture.get("/a", waiting)
        #expect(store.cookies.map(\.pair) == ["t=v1"])
        // A document is asked for at once: the page has set the old value again.
        browser.jar["t"] = "v0"
        browser.take(try await fixture.get("/a", browser.documentFields))
        #expect(store.cookies.map(\.pair) == ["t=v0"])
    }

    @Test("does not bring back a value that it got before the newest one")
    func between() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        try store.insert(cookie("t", "v0"))
        for _ in 0..<2 { browser.take(try await fixture.get("/a", browser.field)) }
        let waiting = browser.field
        try store.insert(cookie("t", "v1"))
        browser.take(try await fixture.get("/a", browser.field))
        try store.insert(cookie("t", "v2"))
        let late = try await fixture.get("/a", waiting)
        browser.take(try await fixture.get("/a", browser.documentFields))
        browser.take(late)
        #expect(store.cookies.map(\.pair) == ["t=v2"])
        #expect(browser.jar["t"] == "v2")
    }

    @Test("does not bring a cookie of the app back after the app removed it")
    func waitedForRemoval() async throws {
        var (fixture, browser, waiting) = try await waitingRequest()
        store.removeAll()
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["t"] == nil)
        _ = try await fixture.get("/a", waiting)
        #expect(store.cookies.isEmpty)
    }

    @Test("is given a changed cookie again if it still sends the old value")
    func unprocessed() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        try store.insert(cookie("t", "v1"))
        for _ in 0..<2 { browser.take(try await fixture.get("/a", browser.field)) }
        try store.insert(cookie("t", "v2"))
        // The browser gives up before it reads these responses.
        for _ in 0..<3 { _ = try await fixture.get("/a", browser.field) }
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["t"] == "v2")
        #expect(store.cookies.map(\.pair) == ["t=v2"])
        #expect(try await fixture.get("/a", browser.field).all("Set-Cookie").isEmpty)
    }

    @Test("is given a new cookie once more, but not each time: the page may have removed it")
    func unprocessedNew() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/a"))
        try store.insert(cookie("t", "v1"))
        for _ in 0..<2 {
            #expect(try await fixture.get("/a", browser.field).all("Set-Cookie") == ["t=v1; Path=/"])
        }
        #expect(try await fixture.get("/a", browser.field).all("Set-Cookie").isEmpty)
    }

    @Test("takes a pair of an earlier run back once the page sets it anew")
    func earlierAnew() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var browser = CookieBrowser(jar: ["waystation-browser": "0123", "consent": "1"])
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["consent"] == nil)
        browser.take(try await fixture.get("/a", browser.documentFields))
        browser.jar["consent"] = "1"
        browser.take(try await fixture.get("/a", browser.field))
        #expect(browser.jar["consent"] == "1")
        #expect(store.cookies.map(\.pair) == ["consent=1"])
    }

    @Test("takes a pair back that a log-out ended once the page sets it anew, and no sooner")
    func endedAnew() async throws {
        let login = LoginSession(cookie: .named("token", domain: "shop.example")) { "t1" }
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store) {
            _ in
        } interceptor: {
            $0.login = login
        }
        var browser = CookieBrowser()
        browser.take(try await fixture.get("/a"))
        browser.jar["cart"] = "3"
        browser.take(try await fixture.get("/a", browser.field))
        let waiting = browser.field
        for _ in 0..<2 {
            #expect(store.cookies.map(\.pair) == ["cart=3"])
            await login.logOut()
            browser.take(try await fixture.get("/a", browser.field))
            #expect(browser.jar["cart"] == nil)
            _ = try await fixture.get("/a", waiting)
            #expect(store.cookies.isEmpty)
            browser.take(try await fixture.get("/a", browser.documentFields))
            browser.jar["cart"] = "3"
            browser.take(try await fixture.get("/a", browser.field))
            #expect(browser.jar["cart"] == "3")
        }
    }

    @Test("keeps what its page sets, whatever number of other clients send no cookies")
    func crowd() async throws {
        let fixture = try await GatewayFixture(files: ["a": "a"], cookies: store)
        var (silent, busy) = (CookieBrowser(), CookieBrowser())
        silent.take(try await fixture.get("/a"))
        for _ in 0..<2 { busy.take(try await fixture.get("/a", busy.field)) }
        busy.jar["seen"] = "1"
        busy.take(try await fixture.get("/a", busy.field))
        let requests = String(repeating: "HEAD /a HTTP/1.1\r\nHost: \(fixture.shop)\r\n\r\n", count: 1_100)
        _ = try await fixture.send(requests + "HEAD /a HTTP/1.1\r\nHost: \(fixture.shop)\r\nConnection: close\r\n\r\n")
        silent.jar["cart"] = "3"
        silent.take(try await fixture.get("/a", silent.field))
        #expect(silent.jar["cart"] == "3")
        #expect(Set(store.cookies.map(\.pair)) == ["cart=3", "seen=1"])
        // The other browser is remembered: its page removes a cookie.
        busy.jar["seen"] = nil
        busy.take(try await fixture.get("/a", busy.documentFields))
        #expect(store.cookies.map(\.pair) == ["cart=3"])
    }
}
#endif
