import Foundation
import Testing

@testable import WaystationHTTP

@Suite("A jar that an app changes")
struct JarTests {
    @Test(
        "a cookie that could not be sent is not created",
        arguments: [
            ("a=b", "1", "e.org", "/"), ("a;b", "1", "e.org", "/"), ("a\r\nX: y", "1", "e.org", "/"),
            ("", "", "e.org", "/"),
            (" a", "1", "e.org", "/"), ("a ", "1", "e.org", "/"),
            ("a", "1; Path=/", "e.org", "/"),
            ("a", "1\n", "e.org", "/"), ("a", "\u{0}", "e.org", "/"), ("a", " 1", "e.org", "/"), ("a", "1", "", "/"),
            ("a", "1", "e org", "/"), ("a", "1", "e.org/x", "/"), ("a", "1", "..e.org", "/"), ("a", "1", "ö.org", "/"),
            ("a", "1", "127.0.0.1", "/"), ("a", "1", "::1", "/"), ("a", "1", "e.org", ""), ("a", "1", "e.org", "x"),
            ("a", "1", "e.org", "/\r\n"), ("__Host-a", "1", "e.org", "/"), ("__Secure-a", "1", "e.org", "/"),
            ("", "__Host-a", "e.org", "/"), ("a", String(repeating: "v", count: 4_096), "e.org", "/"),
            ("a", "1", String(repeating: "d", count: 256), "/"),
        ]
    )
    func invalid(name: String, value: String, domain: String, path: String) {
        #expect(throws: CookieError.self) {
            try Cookie(name: name, value: value, domain: domain, path: path, creation: epoch)
        }
    }

    @Test("a cookie has every property that was set, and is sent accordingly")
    func insert() throws {
        let token = try Cookie(
            name: "token",
            value: "t1",
            domain: ".Shop.Example.com",
            path: "/account",
            expires: epoch + 3_600,
            isSecure: true,
            isHTTPOnly: true,
            sameSite: .strict,
            creation: epoch
        )
        var jar = CookieJar()
        #expect(jar.insert(token, now: epoch) == .stored([.added(token)]))
        #expect(token.domain == "shop.example.com")
        #expect(jar.header(for: url("https://www.shop.example.com/account/x"), now: epoch + 1) == "token=t1")
        #expect(jar.names(for: "http://shop.example.com/account", now: epoch) == [])
        #expect(jar.names(for: "https://shop.example.com/", now: epoch) == [])
        #expect(jar.names(for: "https://shop.example.com/account", now: epoch + 3_600) == [])
    }

    @Test("inserting an expired cookie removes the stored one")
    func insertEnded() throws {
        var jar = CookieJar()
        jar.insert(try .plain("a"), now: epoch)
        let ended = try Cookie.plain("a", expires: epoch)
        #expect(jar.insert(ended, now: epoch + 1).changes.map(\.isPresent) == [false])
        #expect(jar.count == 0)
    }

    @Test("an app cannot insert a cookie for a public suffix")
    func insertSuffix() throws {
        var jar = CookieJar()
        let wide = try Cookie.plain("a", domain: "co.uk", isHostOnly: false)
        #expect(jar.insert(wide, now: epoch).refusal?.code == .publicSuffix)
        for host in ["co.uk", "localhost", "::1"] {
            let cookie = try Cookie.plain("a", domain: host)
            #expect(jar.insert(cookie, now: epoch).refusal == nil)
        }
    }

    private func filled() throws -> CookieJar {
        var jar = CookieJar()
        for (index, domain) in ["e.org", "w.e.org", "bade.org", "other.org"].enumerated() {
            jar.insert(try .plain("s", domain: domain, creation: epoch + Double(index)), now: epoch)
            jar.insert(
                try .plain("p", domain: domain, expires: epoch + 99, creation: epoch + Double(index) + 0.5),
                now: epoch
            )
        }
        return jar
    }

    @Test("removing a domain's cookies includes the hosts below it", arguments: ["e.org", "E.org", ".e.org"])
    func removeDomain(domain: String) throws {
        var jar = try filled()
        let changes = jar.removeAll(domain: domain)
        #expect(changes.map(\.cookie.domain) == ["e.org", "e.org", "w.e.org", "w.e.org"])
        #expect(changes.allSatisfy { if case .removed = $0 { true } else { false } })
        #expect(jar.count == 4)
        #expect(jar.names(for: "http://bade.org/", now: epoch) == ["s", "p"])
    }

    @Test("a text that is not a domain removes nothing", arguments: ["", ".", "not a host", "org."])
    func removeNoDomain(domain: String) throws {
        var jar = try filled()
        #expect(jar.removeAll(domain: domain) == [])
        #expect(jar.count == 8)
    }

    @Test("one cookie is removed by its identity, once")
    func removeOne() throws {
        var jar = try filled()
        let id = Cookie.ID(name: "s", domain: "e.org", isHostOnly: true, path: "/")
        #expect(jar.remove(id).map(\.cookie.id) == [id])
        #expect(jar.remove(id) == [])
        #expect(jar[id] == nil)
        #expect(jar.count == 7)
    }

    @Test("ending the session removes the cookies without an expiry")
    func session() throws {
        var jar = try filled()
        #expect(jar.removeSessionCookies().map(\.cookie.name) == ["s", "s", "s", "s"])
        #expect(jar.cookies.map(\.name) == ["p", "p", "p", "p"])
    }

    @Test("removing all cookies reports each once")
    func all() throws {
        var jar = try filled()
        #expect(jar.removeAll().count == 8)
        #expect(jar.cookies == [])
        #expect(jar.removeAll() == [])
    }

    @Test("a copy that applies the reported changes equals the jar")
    func changesAreComplete() {
        var jar = CookieJar(rules: CookieRules(maximumForDomain: 3, maximumInAll: 7))
        var copy: [Cookie.ID: String] = [:]
        var random = SeededNumbers(seed: 42)
        for step in 0..<5_000 {
            let now = epoch + Double(step)
            let changes: [CookieChange]
            let host = "h\(random.next() % 4).org"
            switch random.next() % 12 {
            case 0: changes = jar.removeAll(domain: host)
            case 1: changes = jar.removeExpired(now: now)
            case 2: changes = random.next() % 20 == 0 ? jar.removeSessionCookies() : []
            default:
                let end = ["", "; Max-Age=3", "; Max-Age=40", "; Max-Age=0"][Int(random.next() % 4)]
                let field =
                    "k\(random.next() % 5)=\(random.next() % 9)\(end)\(random.next() % 2 == 0 ? "; Secure" : "")"
                changes =
                    jar.store(field, from: url("http\(random.next() % 2 == 0 ? "s" : "")://\(host)/"), now: now).changes
            }
            for change in changes {
                let cookie = change.cookie
                switch change {
                case .added: #expect(copy.updateValue(cookie.value, forKey: cookie.id) == nil)
                case .changed: #expect(copy.updateValue(cookie.value, forKey: cookie.id) != nil)
                case .removed, .expired, .evicted: #expect(copy.removeValue(forKey: cookie.id) != nil)
                }
            }
            #expect(copy.count == jar.count)
        }
        #expect(copy == Dictionary(uniqueKeysWithValues: jar.cookies.map { ($0.id, $0.value) }))
    }
}

@Suite("A jar that is encoded")
struct CodingTests {
    @Test("decodes to the same cookies in the same order, with the app's rules or the default ones")
    func roundTrip() throws {
        let jar = CookieJar(
            [
                ("https://e.org/x/", "z=1; Secure; HttpOnly; SameSite=Strict"), ("https://e.org/", "a=1; Max-Age=6000"),
                ("https://e.org/", "m=\"q\"; Domain=e.org; SameSite=None; Secure"),
            ] + (0..<60).map { ("https://e.org/", "k\($0)=1") },
            rules: CookieRules(maximumForDomain: 100)
        )
        let back = try JSONDecoder().decode(CookieJar.self, from: JSONEncoder().encode(jar))
        #expect(back.cookies == jar.cookies)
        #expect(back.count == 63)
        #expect(back.names(for: "https://e.org/x/y", now: epoch) == jar.names(for: "https://e.org/x/y", now: epoch))
        #expect(back.rules.maximumForDomain == 50)
    }

    @Test("removes and reports cookies that expired meanwhile at the next mutation")
    func ended() throws {
        let jar = CookieJar([("https://e.org/", "a=1; Max-Age=60")])
        var back = try JSONDecoder().decode(CookieJar.self, from: JSONEncoder().encode(jar))
        #expect(back.names(for: "https://e.org/", now: epoch + 60) == [])
        #expect(back.removeExpired(now: epoch + 60).count == 1)
    }

    static let sound = """
        {"name":"a","value":"1","domain":"e.org","isHostOnly":true,"path":"/","isSecure":false,"isHTTPOnly":false,\
        "sameSite":"lax","creation":0,"lastAccess":0}
        """

    @Test("is read from its stored form", arguments: [sound, sound + "," + sound])
    func form(cookies: String) throws {
        let jar = try JSONDecoder().decode(CookieJar.self, from: Data("{\"version\":1,\"cookies\":[\(cookies)]}".utf8))
        #expect(jar.count == 1)
    }

    @Test(
        "is refused if it was tampered with",
        arguments: [
            "{\"version\":2,\"cookies\":[]}", "{\"cookies\":[]}", "{\"version\":1}",
            "{\"version\":1,\"cookies\":[\(sound.replacingOccurrences(of: "\"1\"", with: "\"1\\r\\nX: y\""))]}",
            "{\"version\":1,\"cookies\":[\(sound.replacingOccurrences(of: "\"a\"", with: "\"__Host-a\""))]}",
            "{\"version\":1,\"cookies\":[\(sound.replacingOccurrences(of: "\"/\"", with: "\"x\""))]}",
            "{\"version\":1,\"cookies\":[\(sound.replacingOccurrences(of: "\"e.org\"", with: "\"e org\""))]}",
        ]
    )
    func tampered(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CookieJar.self, from: Data(text.utf8)) }
    }
}

@Suite("Hostile input")
struct HostileTests {
    @Test("no field of random octets harms the jar", arguments: 0..<50)
    func random(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let alphabet = Array("a=1;, \t\"Expires=DomainPathMax-Age:-0189.\u{301}é\0\r\n%/".unicodeScalars)
        var jar = CookieJar(rules: CookieRules(acceptsNamelessCookies: true))
        for _ in 0..<200 {
            var text = String.UnicodeScalarView()
            for _ in 0..<(random.next() % 60) { text.append(alphabet[Int(random.next() % UInt64(alphabet.count))]) }
            jar.store(joined: String(text), from: url("https://e.org/"), now: epoch)
        }
        let header = jar.header(for: url("https://e.org/"), now: epoch) ?? ""
        #expect(header.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        #expect(jar.count <= 50)
    }

    @Test("whatever was stored can be encoded and decoded", arguments: 0..<20)
    func kept(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let hosts = ["e.org", "a..e.org", "[::1]", "10.1", "x_y.e.org", "E.ORG."]
        let fields = [
            "n=1", "=a=b", "v", "n=1; Domain=..e.org", "n=1; Domain=e.org", "n=1; Path=/é;", "n=; Domain=e.org.",
            "\"=\"",
        ]
        var jar = CookieJar(rules: CookieRules(acceptsNamelessCookies: true))
        for _ in 0..<100 {
            let path = String(repeating: "/long", count: Int(random.next() % 500)) + "/"
            let from = "https://\(hosts[Int(random.next() % 6)])\(path)"
            jar.store(fields[Int(random.next() % 8)], from: url(from), now: epoch)
        }
        let back = try JSONDecoder().decode(CookieJar.self, from: JSONEncoder().encode(jar))
        #expect(!jar.cookies.isEmpty)
        #expect(back.cookies == jar.cookies)
    }

    @Test("long input is read in linear time", arguments: [",", "=", ";", "\"", "a=\",", " ", "a=1, ", ";="])
    func long(unit: String) {
        let text = String(repeating: unit, count: 100_000 / unit.count)
        #expect(SetCookie.split(joined: text).joined().utf8.count <= text.utf8.count)
        #expect((try? SetCookie(text))?.name.utf8.count ?? 0 <= 4_096)
    }
}
