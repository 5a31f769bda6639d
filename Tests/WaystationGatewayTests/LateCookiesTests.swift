#if Gateway
import Foundation
import Testing
import Waystation
import WaystationCookies
import WaystationTesting

@Suite("A browser whose cookies are behind those of the app", .timeLimit(.minutes(10)))
struct LateCookiesTests {
    private let store = CookieStore()

    private func cookie(_ name: String, _ value: String) throws -> Cookie {
        try Cookie(name: name, value: value, domain: "shop.example", isHostOnly: true, creation: Date())
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
