import Foundation
import Testing

@testable import WaystationHTTP

@Suite("The storage model (RFC 6265 §5.3, RFC 6265bis §5.7)")
struct JarStoringTests {
    let here = url("https://e.org/")

    @Test("a replacement keeps the creation time and the place")
    func replacement() throws {
        var jar = CookieJar([("https://e.org/", "a=1"), ("https://e.org/", "b=1")])
        let outcome = jar.store("a=2", from: here, now: epoch + 50)
        #expect(jar.header(for: here, now: epoch + 60) == "a=2; b=1")
        let cookie = try #require(jar[Cookie.ID(name: "a", domain: "e.org", isHostOnly: true, path: "/")])
        #expect(cookie.creation == epoch)
        guard case .changed(let new, from: let old) = try #require(outcome.changes.first) else {
            Issue.record("\(outcome)")
            return
        }
        #expect([old.value, new.value] == ["1", "2"])
        #expect(outcome.changes.count == 1)
    }

    @Test("storing the same cookie again reports no change")
    func same() {
        var jar = CookieJar([("https://e.org/", "a=1")])
        #expect(jar.store("a=1", from: here, now: epoch + 50) == .stored([]))
        #expect(jar.cookies.map(\.lastAccess) == [epoch + 50])
    }

    @Test(
        "an expiry in the past removes the cookie, and reports it once",
        arguments: ["Max-Age=0", "Max-Age=-5", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"]
    )
    func removal(attribute: String) throws {
        var jar = CookieJar([("https://e.org/", "a=1")])
        let cookie = try #require(jar.cookies.first)
        #expect(jar.store("a=; \(attribute)", from: here, now: epoch + 1) == .stored([.removed(cookie)]))
        #expect(jar.count == 0)
        #expect(jar.store("a=; \(attribute)", from: here, now: epoch + 1) == .stored([]))
    }

    @Test("Max-Age takes precedence over Expires")
    func maxAgeFirst() {
        let past = "Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        #expect(CookieJar([("https://e.org/", "a=1; Max-Age=2000; \(past)")]).names(for: "https://e.org/") == ["a"])
        #expect(CookieJar([("https://e.org/", "a=1; Expires=Fri, 31 Dec 2100 00:00:00 GMT; Max-Age=0")]).count == 0)
    }

    @Test("a cookie expires at its moment, and not before")
    func end() {
        let jar = CookieJar([("https://e.org/", "a=1; Max-Age=100")])
        #expect(jar.names(for: "https://e.org/", now: epoch + 99.9) == ["a"])
        #expect(jar.names(for: "https://e.org/", now: epoch + 100) == [])
    }

    @Test(
        "no response can set a longer lifetime than the rules allow",
        arguments: ["Max-Age=99999999999999999999", "Expires=Fri, 31 Dec 9999 23:59:59 GMT"]
    )
    func longestLife(attribute: String) {
        #expect(CookieJar([("https://e.org/", "a=1; \(attribute)")]).cookies.first?.expires == epoch + 400 * 86_400)
    }

    @Test("storing a cookie removes expired ones and reports them")
    func sweep() {
        var jar = CookieJar([
            ("https://e.org/", "a=1; Max-Age=10"), ("https://other.org/", "b=1; Max-Age=10"), ("https://e.org/", "c=1"),
        ])
        let changes = jar.store("d=1", from: here, now: epoch + 30).changes
        #expect(
            changes.map { [$0.cookie.name, $0.isPresent ? "there" : "gone"] } == [
                ["a", "gone"], ["b", "gone"], ["d", "there"],
            ]
        )
        #expect(changes.prefix(2).allSatisfy { if case .expired = $0 { true } else { false } })
        #expect(jar.removeExpired(now: epoch + 30) == [])
    }

    @Test("a cookie that replaces an expired one is new")
    func afterTheEnd() {
        var jar = CookieJar([("https://e.org/", "a=1; Max-Age=10")])
        let changes = jar.store("a=2", from: here, now: epoch + 30).changes
        #expect(changes.map(\.isPresent) == [false, true])
        #expect(jar.cookies.map(\.creation) == [epoch + 30])
    }

    @Test("an expired cookie no longer protects its name")
    func endedProtectsNothing() {
        var jar = CookieJar([
            ("https://e.org/", "a=1; Secure; Max-Age=10"), ("https://e.org/", "b=1; HttpOnly; Max-Age=9"),
        ])
        #expect(jar.store("a=2", from: url("http://e.org/"), now: epoch + 9).refusal?.code == .secureCookieStands)
        let script = CookieContext(isHTTP: false)
        #expect(jar.store("b=2", from: here, context: script, now: epoch + 9).refusal?.code == .httpOnly)
        #expect(jar.store("b=2", from: here, context: script, now: epoch + 10).refusal == nil)
        #expect(jar.store("a=2", from: url("http://e.org/"), now: epoch + 10).refusal == nil)
    }

    @Test("expired cookies are removed on request")
    func removeExpired() {
        var jar = CookieJar([("https://e.org/", "a=1; Max-Age=10"), ("https://e.org/", "b=1; Max-Age=90")])
        #expect(jar.removeExpired(now: epoch + 9) == [])
        #expect(jar.removeExpired(now: epoch + 10).map(\.cookie.name) == ["a"])
        #expect(jar.removeExpired(now: epoch + 91).map(\.cookie.name) == ["b"])
        #expect(jar.count == 0)
    }

    @Test(
        "an insecure response does not overlay a secure cookie",
        arguments: [
            ("http://e.org/", "a=2", false), ("http://e.org/", "a=2; Max-Age=0", false),
            ("http://w.e.org/", "a=2; Domain=e.org", false), ("http://w.e.org/", "a=2", false),
            ("http://e.org/", "a=2; Path=/login/deep", false), ("http://e.org/", "a=2; Path=/", true),
            ("http://e.org/", "a=2; Path=/other", true), ("http://e.org/", "A=2; Path=/login", true),
            ("http://other.org/", "a=2; Path=/login", true), ("https://e.org/", "a=2; Path=/login", true),
        ]
    )
    func secureStands(from: String, field: String, isTaken: Bool) {
        let path = field.contains("Path") ? field : field + "; Path=/login"
        var jar = CookieJar([("https://e.org/", "a=1; Secure; Path=/login; Domain=e.org")])
        let outcome = jar.store(path, from: url(from), now: epoch + 1)
        #expect(outcome.refusal?.code == (isTaken ? nil : .secureCookieStands))
        #expect(jar.count == (isTaken ? 2 : 1))
    }

    @Test("a secure cookie of a host below is not overlaid either")
    func secureBelowStands() {
        var jar = CookieJar([("https://w.e.org/", "a=1; Secure")])
        #expect(
            jar.store("a=2; Domain=e.org", from: url("http://e.org/"), now: epoch).refusal?.code == .secureCookieStands
        )
    }

    @Test("interfaces other than HTTP neither see, nor set, nor replace HttpOnly cookies")
    func httpOnly() {
        let script = CookieContext(isHTTP: false)
        var jar = CookieJar([("https://e.org/", "a=1; HttpOnly"), ("https://e.org/", "b=1")])
        #expect(jar.names(for: "https://e.org/", context: script) == ["b"])
        #expect(jar.store("a=2", from: here, context: script, now: epoch).refusal?.code == .httpOnly)
        #expect(jar.store("c=2; HttpOnly", from: here, context: script, now: epoch).refusal?.code == .httpOnly)
        #expect(jar.store("b=2", from: here, context: script, now: epoch).refusal == nil)
        #expect(jar.store("a=3", from: here, now: epoch).refusal == nil)
    }

    @Test(
        "each refusal names the rule that caused it",
        arguments: [
            ("http://127.0.0.1/", "a=1; Domain=0.0.1", CookieError.Code.domain),
            ("https://a..e.org/", "a=1; Domain=..e.org", .domain),
            ("https://e.org/", "word", .nameless), ("https://e.org/", "a=\u{1}", .character),
            ("https://e.org/", "a=1; Domain=other.org", .domain), ("https://e.org/", "a=1; Domain=ö.org", .domain),
            ("https://e.org/", "a=1; Domain=org", .publicSuffix), ("http://e.org/", "a=1; Secure", .insecureOrigin),
            ("https://e.org/", "__Host-a=1", .prefix), ("https://e.org/", "a=1; SameSite=None", .sameSite),
            ("data:text/plain,x", "a=1", .url), ("about:blank", "a=1", .url),
            ("https://e.org/", "a=" + String(repeating: "v", count: 4_096), .length),
        ]
    )
    func refusals(from: String, field: String, code: CookieError.Code) {
        var jar = CookieJar()
        #expect(jar.store(field, from: url(from), now: epoch).refusal?.code == code)
        #expect(jar.count == 0)
    }

    @Test("no message contains a value")
    func discretion() {
        var jar = CookieJar()
        for field in ["a=secret; Domain=org", "=secret", "a=secret\u{1}", "__Host-a=secret", "a=secret; SameSite=None"]
        {
            let refusal = jar.store(field, from: here, now: epoch).refusal
            #expect(refusal?.description.contains("secret") == false)
        }
    }

    @Test("sending a cookie records the access, looking at it does not")
    func access() {
        var jar = CookieJar([("https://e.org/", "a=1"), ("https://e.org/x", "b=1; Path=/x")])
        _ = jar.cookies(for: here, now: epoch + 50)
        #expect(jar.cookies.map(\.lastAccess) == [epoch, epoch + 1])
        _ = jar.header(for: here, now: epoch + 60)
        #expect(jar.cookies.map(\.lastAccess) == [epoch + 60, epoch + 1])
    }
}

@Suite("A jar's limits (RFC 6265 §5.3, §6.1)")
struct LimitTests {
    @Test("a domain has at most 50 cookies; the least recently used one is removed")
    func domain() {
        var jar = CookieJar((0..<50).map { ("https://e.org/", "k\($0)=1") })
        _ = jar.header(for: url("https://e.org/"), now: epoch + 100)
        jar.store("k50=1", from: url("https://e.org/"), now: epoch + 90)
        #expect(jar.count == 50)
        #expect(jar.cookies.contains { $0.name == "k50" } == false)
        let changes = jar.store("k51=1", from: url("https://e.org/"), now: epoch + 101).changes
        #expect(changes.map(\.cookie.name) == ["k51", "k0"])
        #expect(changes.map(\.isPresent) == [true, false])
    }

    @Test("cookies that are not secure are removed first")
    func insecureFirst() {
        var responses = (0..<49).map { (url: "https://e.org/", field: "k\($0)=1; Secure") }
        responses.append((url: "https://e.org/", field: "weak=1"))
        var jar = CookieJar(responses)
        let changes = jar.store("last=1; Secure", from: url("https://e.org/"), now: epoch + 60).changes
        #expect(changes.map(\.cookie.name) == ["last", "weak"])
    }

    @Test("an insecure response cannot crowd out secure cookies")
    func noCrowding() {
        var jar = CookieJar((0..<50).map { ("https://e.org/", "k\($0)=1; Secure") })
        for index in 0..<200 { jar.store("x\(index)=1", from: url("http://e.org/"), now: epoch + 100) }
        #expect(jar.count == 50)
        #expect(jar.cookies.allSatisfy { $0.isSecure })
    }

    @Test("expired cookies are removed before any others")
    func expiredFirst() {
        var jar = CookieJar((0..<50).map { ("https://e.org/", $0 == 30 ? "k30=1; Max-Age=40" : "k\($0)=1") })
        let changes = jar.store("new=1", from: url("https://e.org/"), now: epoch + 80).changes
        #expect(changes.map(\.cookie.name) == ["k30", "new"])
        #expect(jar.count == 50)
    }

    @Test("a jar has at most 3,000 cookies")
    func inAll() {
        var jar = CookieJar((0..<3_001).map { ("https://h\($0).org/", "a=1") })
        #expect(jar.count == 3_000)
        #expect(jar.names(for: "https://h0.org/", now: epoch + 4_000) == [])
        _ = jar.header(for: url("https://h1.org/"), now: epoch + 5_000)
        #expect(
            jar.store("a=1", from: url("https://new.org/"), now: epoch + 5_001).changes.map(\.cookie.domain) == [
                "new.org", "h2.org",
            ]
        )
    }

    @Test("the app's limits apply, even if they are zero", arguments: [0, 1, 7, -1])
    func others(limit: Int) {
        let domain = CookieJar(
            (0..<20).map { ("https://e.org/", "k\($0)=1") },
            rules: CookieRules(maximumForDomain: limit)
        )
        #expect(domain.count == max(0, limit))
        let all = CookieJar((0..<20).map { ("https://h\($0).org/", "k=1") }, rules: CookieRules(maximumInAll: limit))
        #expect(all.count == max(0, limit))
    }
}
