import Foundation
import Testing

@testable import WaystationHTTP

@Suite("SameSite (RFC 6265bis §5.2, §5.7, §5.8.3)")
struct SameSiteTests {
    static let navigation = CookieContext(isSameSite: false, isTopLevelNavigation: true)
    static let post = CookieContext(isSameSite: false, isTopLevelNavigation: true, method: "POST")
    static let embedded = CookieContext(isSameSite: false)
    static let script = CookieContext(isSameSite: false, isTopLevelNavigation: true, isHTTP: false)

    static let rows: [(attribute: String, context: CookieContext, isSent: Bool)] = [
        ("SameSite=Strict", .firstParty, true), ("SameSite=Strict", navigation, false),
        ("SameSite=Strict", post, false), ("SameSite=Strict", embedded, false),
        ("SameSite=Lax", .firstParty, true), ("SameSite=Lax", navigation, true), ("SameSite=Lax", post, false),
        ("SameSite=Lax", embedded, false), ("SameSite=Lax", script, false),
        ("SameSite=lAX", navigation, true), ("SameSite=None; Secure", embedded, true),
        ("SameSite=None; Secure", post, true), ("SameSite=NONE; Secure", script, true),
        ("x", .firstParty, true), ("x", navigation, true), ("x", post, false), ("x", embedded, false),
        ("SameSite=Unknown", navigation, true), ("SameSite=Unknown", embedded, false),
        ("SameSite=Strict; SameSite=Lax", navigation, true), ("SameSite=Lax; SameSite=Strict", navigation, false),
        ("SameSite=Strict; SameSite=what", navigation, true),
        ("SameSite=Lax", CookieContext(isSameSite: false, isTopLevelNavigation: true, method: "HEAD"), true),
        ("SameSite=Lax", CookieContext(isSameSite: false, isTopLevelNavigation: true, method: "get"), false),
        ("SameSite=Strict", CookieContext(method: "DELETE"), true),
    ]

    @Test("decides which requests carry a cookie", arguments: rows)
    func sending(attribute: String, context: CookieContext, isSent: Bool) {
        let jar = CookieJar([("https://e.org/", "a=1; \(attribute)")])
        #expect(jar.count == 1)
        #expect(jar.names(for: "https://e.org/", context: context) == (isSent ? ["a"] : []))
    }

    @Test("None requires Secure")
    func none() {
        var jar = CookieJar()
        let outcome = jar.store("a=1; SameSite=None", from: url("https://e.org/"), now: epoch)
        #expect(outcome.refusal?.code == .sameSite)
        #expect(jar.count == 0)
    }

    @Test(
        "another site's request can set a cookie if it is a navigation or the cookie is None",
        arguments: [
            ("a=1; SameSite=Strict", embedded, false), ("a=1; SameSite=Lax", embedded, false), ("a=1", embedded, false),
            ("a=1; SameSite=None; Secure", embedded, true), ("a=1; SameSite=Strict", navigation, true),
            ("a=1; SameSite=Strict", post, true), ("a=1", script, false), ("a=1; SameSite=Strict", .firstParty, true),
        ]
    )
    func setting(field: String, context: CookieContext, isTaken: Bool) {
        var jar = CookieJar()
        let outcome = jar.store(field, from: url("https://e.org/"), context: context, now: epoch)
        #expect((outcome.refusal?.code == nil) == isTaken)
        #expect(jar.count == (isTaken ? 1 : 0))
    }

    @Test(
        "two URLs are of the same site if scheme and registrable domain are equal",
        arguments: [
            ("https://a.example.com/", "https://b.example.com/x", true),
            ("https://example.com/", "https://example.com:8/", true),
            ("http://example.com/", "https://example.com/", false),
            ("https://example.com/", "https://example.org/", false),
            ("https://a.co.uk/", "https://b.co.uk/", false), ("https://x.a.co.uk/", "https://a.co.uk/", true),
            ("https://10.0.0.1/", "https://20.0.0.1/", false), ("https://10.0.0.1/", "https://10.0.0.1/", true),
            ("https://localhost/", "https://localhost/", true), ("https://localhost/", "https://other/", false),
            ("https://example.com/", "ftp://example.com/", false), ("wss://example.com/", "https://example.com/", true),
        ]
    )
    func site(first: String, second: String, isSame: Bool) {
        #expect(CookieRules().isSameSite(url(first), url(second)) == isSame)
        #expect(CookieRules().isSameSite(url(second), url(first)) == isSame)
    }
}
