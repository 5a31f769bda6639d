import Foundation
import Testing

@testable import WaystationHTTP

/// The cookie that a response sets, and the cookie that the next request carries.
struct Selection: Sendable, CustomTestStringConvertible {
    var from: String
    var field: String
    var to: String
    var isSent: Bool

    var testDescription: String { "\(field.prefix(60)) of \(from) \(isSent ? "goes" : "does not go") to \(to)" }

    init(_ from: String, _ field: String, _ to: String, _ isSent: Bool) {
        self.from = from
        self.field = field
        self.to = to
        self.isSent = isSent
    }
}

@Suite("The cookies that a request carries")
struct SelectionTests {
    static let domains = [
        Selection("http://example.com/", "a=1", "http://example.com/", true),
        Selection("http://example.com/", "a=1", "http://EXAMPLE.com/", true),
        Selection("http://example.com/", "a=1", "http://www.example.com/", false),
        Selection("http://www.example.com/", "a=1", "http://example.com/", false),
        Selection("http://example.com/", "a=1; Domain=example.com", "http://www.example.com/", true),
        Selection("http://example.com/", "a=1; Domain=.example.com", "http://a.b.example.com/", true),
        Selection("http://a.b.example.com/", "a=1; Domain=b.example.com", "http://b.example.com/", true),
        Selection("http://a.b.example.com/", "a=1; Domain=b.example.com", "http://example.com/", false),
        Selection("http://example.com/", "a=1; Domain=example.com", "http://badexample.com/", false),
        Selection("http://badexample.com/", "a=1; Domain=example.com", "http://example.com/", false),
        Selection("http://example.com/", "a=1; Domain=www.example.com", "http://www.example.com/", false),
        Selection("http://example.com/", "a=1; Domain=example.org", "http://example.org/", false),
        Selection("http://example.com/", "a=1; Domain=com", "http://other.com/", false),
        Selection("http://example.com/", "a=1; Domain=.com", "http://example.com/", false),
        Selection("http://example.com./", "a=1; Domain=com.", "http://other.com./", false),
        Selection("http://shop.example.co.uk/", "a=1; Domain=co.uk", "http://other.co.uk/", false),
        Selection("http://shop.example.co.uk/", "a=1; Domain=example.co.uk", "http://example.co.uk/", true),
        Selection("http://co.uk/", "a=1; Domain=co.uk", "http://co.uk/", true),
        Selection("http://co.uk/", "a=1; Domain=co.uk", "http://example.co.uk/", false),
        Selection("http://localhost/", "a=1", "http://localhost:8080/", true),
        Selection("http://localhost/", "a=1; Domain=localhost", "http://localhost/", true),
        Selection("http://localhost/", "a=1; Domain=localhost", "http://www.localhost/", false),
        Selection("http://www.localhost/", "a=1; Domain=localhost", "http://www.localhost/", false),
        Selection("http://127.0.0.1/", "a=1", "http://127.0.0.1/", true),
        Selection("http://127.0.0.1/", "a=1; Domain=127.0.0.1", "http://127.0.0.1/", true),
        Selection("http://127.0.0.1/", "a=1; Domain=0.0.1", "http://127.0.0.1/", false),
        Selection("http://127.0.0.1/", "a=1; Domain=1", "http://127.0.0.1/", false),
        Selection("http://127.0.0.1/", "a=1; Domain=127.0.0.1", "http://1.127.0.0.1/", false),
        Selection("http://10.1/", "a=1; Domain=1", "http://10.1/", false),
        Selection("http://[::1]/", "a=1", "http://[::1]/", true),
        Selection("http://[::1]/", "a=1; Domain=[::1]", "http://[::1]/", false),
        Selection("http://[::1]/", "a=1; Domain=::1", "http://[::1]/", true),
        Selection("http://[::1]/", "a=1", "http://[::2]/", false),
        Selection("http://bücher.example/", "a=1", "http://xn--bcher-kva.example/", true),
        Selection("http://bücher.example/", "a=1; Domain=xn--bcher-kva.example", "http://www.bücher.example/", true),
        Selection("http://bücher.example/", "a=1; Domain=bücher.example", "http://bücher.example/", false),
        Selection("http://ex%61mple.com/", "a=1", "http://example.com/", true),
        Selection("http://a_b.example.com/", "a=1", "http://a_b.example.com/", true),
        Selection("http://user:secret@example.com/", "a=1", "http://example.com/", true),
        Selection("http://example.com/", "a=1; Domain=.", "http://example.com/", true),
        Selection("http://example.com/", "a=1; Domain=.", "http://www.example.com/", false),
        Selection("http://example.com/", "a=1; Domain= example.com ; Secure=0x", "http://example.com/", false),
    ]

    static let paths = [
        Selection("http://e.org/dir/page", "a=1", "http://e.org/dir/", true),
        Selection("http://e.org/dir/page", "a=1", "http://e.org/dir", true),
        Selection("http://e.org/dir/page", "a=1", "http://e.org/", false),
        Selection("http://e.org/dir/page", "a=1", "http://e.org/directory", false),
        Selection("http://e.org/dir/", "a=1", "http://e.org/dir/x", true),
        Selection("http://e.org/page", "a=1", "http://e.org/", true),
        Selection("http://e.org", "a=1", "http://e.org/x/y", true),
        Selection("http://e.org/", "a=1; Path=/admin", "http://e.org", false),
        Selection("http://e.org/", "a=1; Path=/admin", "http://e.org/administrator", false),
        Selection("http://e.org/", "a=1; Path=/admin", "http://e.org/admin?x", true),
        Selection("http://e.org/", "a=1; Path=/admin", "http://e.org/admin/users", true),
        Selection("http://e.org/", "a=1; Path=/admin/", "http://e.org/admin", false),
        Selection("http://e.org/", "a=1; Path=/Admin", "http://e.org/admin", false),
        Selection("http://e.org/", "a=1; Path=/a%20b", "http://e.org/a%20b", true),
        Selection("http://e.org/", "a=1; Path=/a b", "http://e.org/a%20b", false),
        Selection("http://e.org/", "a=1; Path=/a%2fb", "http://e.org/a/b", false),
        Selection("http://e.org/", "a=1; Path=relative", "http://e.org/x", true),
        Selection("http://e.org/q/", "a=1; Path=/p;x", "http://e.org/p", true),
        Selection("http://e.org/?/deep/query", "a=1", "http://e.org/", true),
        Selection("http://e.org/a//b", "a=1", "http://e.org/a//c", true),
    ]

    static let secure = [
        Selection("https://e.org/", "a=1; Secure", "https://e.org/", true),
        Selection("https://e.org/", "a=1; Secure", "wss://e.org/", true),
        Selection("https://e.org/", "a=1; Secure", "http://e.org/", false),
        Selection("https://e.org/", "a=1; Secure", "ws://e.org/", false),
        Selection("http://e.org/", "a=1; Secure", "https://e.org/", false),
        Selection("http://e.org/", "a=1", "https://e.org/", true),
        Selection("https://e.org/", "a=1", "http://e.org/", true),
        Selection("HTTPS://e.org/", "a=1; Secure", "https://e.org/", true),
        Selection("https://e.org:444/", "a=1; Secure", "https://e.org/", true),
        Selection("https://localhost/", "a=1; Secure", "http://localhost/", false),
        Selection("http://127.0.0.1/", "a=1; Secure", "http://127.0.0.1/", false),
        Selection("https://e.org/", "a=1; HttpOnly", "https://e.org/", true),
        Selection("ftp://e.org/", "a=1", "http://e.org/", false),
        Selection("http://e.org/", "a=1", "ftp://e.org/", false),
        Selection("file:///etc/x", "a=1", "http://e.org/", false),
    ]

    static let prefixes = [
        Selection("https://e.org/", "__Secure-a=1; Secure", "https://e.org/", true),
        Selection("https://e.org/", "__Secure-a=1", "https://e.org/", false),
        Selection("http://e.org/", "__Secure-a=1; Secure", "https://e.org/", false),
        Selection("https://e.org/", "__secure-a=1", "https://e.org/", false),
        Selection("https://e.org/", "__Secure-a=1; Secure; Domain=e.org; Path=/x", "https://w.e.org/x", true),
        Selection("https://e.org/", "__Host-a=1; Secure; Path=/", "https://e.org/", true),
        Selection("https://e.org/", "__Host-a=1; Secure", "https://e.org/", false),
        Selection("https://e.org/", "__Host-a=1; Path=/", "https://e.org/", false),
        Selection("https://e.org/", "__Host-a=1; Secure; Path=/x", "https://e.org/x", false),
        Selection("https://e.org/", "__Host-a=1; Secure; Path=/; Domain=e.org", "https://e.org/", false),
        Selection("https://e.org/", "__HOST-a=1; Secure; Path=/; Domain=e.org", "https://e.org/", false),
        Selection("https://e.org/", "__host-a=1; Secure; Path=/; Domain=", "https://e.org/", true),
        Selection("https://e.org/", "__Hosta=1; Path=/x", "https://e.org/x", true),
    ]

    @Test("are selected by domain (RFC 6265 §5.1.3, §5.3)", arguments: domains)
    func domain(_ selection: Selection) { check(selection) }

    @Test("are selected by path (RFC 6265 §5.1.4)", arguments: paths)
    func path(_ selection: Selection) { check(selection) }

    @Test("are selected by scheme (RFC 6265 §5.4)", arguments: secure)
    func scheme(_ selection: Selection) { check(selection) }

    @Test("obey the prefix of their name (RFC 6265bis §4.1.3)", arguments: prefixes)
    func prefix(_ selection: Selection) { check(selection) }

    private func check(_ selection: Selection) {
        let jar = CookieJar([(selection.from, selection.field)])
        #expect(jar.names(for: selection.to).isEmpty == !selection.isSent)
    }

    @Test(
        "treat loopback as secure if the rules say so, and no other host",
        arguments: [
            ("http://localhost/", true), ("http://app.localhost/", true), ("http://127.8.9.1/", true),
            ("http://[::1]/", true), ("http://notlocalhost/", false), ("http://128.0.0.1/", false),
            ("http://127.example.com/", false), ("http://127.0.0.evil/", false),
        ]
    )
    func loopback(text: String, isTrusted: Bool) {
        let jar = CookieJar([(text, "a=1; Secure")], rules: CookieRules(isTrustworthyLoopback: true))
        #expect(jar.names(for: text) == (isTrusted ? ["a"] : []))
        #expect(CookieJar([(text, "a=1; Secure")]).count == 0)
    }

    @Test("are checked against an app's list of public suffixes")
    func suffixes() {
        let rules = CookieRules(publicSuffixes: PublicSuffixes { $0 == "pages.corp" })
        #expect(CookieJar([("https://me.pages.corp/", "a=1; Domain=pages.corp")], rules: rules).count == 0)
        #expect(CookieJar([("https://me.pages.corp/", "a=1; Domain=pages.corp")]).count == 1)
        #expect(CookieJar([("https://w.me.pages.corp/", "a=1; Domain=me.pages.corp")], rules: rules).count == 1)
        // Single labels are public suffixes without a list.
        #expect(CookieJar([("https://me.dev/", "a=1; Domain=dev")], rules: rules).count == 0)
    }

    @Test("are ordered by the length of their path, then by creation (RFC 6265 §5.4)")
    func order() {
        let from = "http://e.org/"
        let jar = CookieJar([
            (from, "root=1; Path=/"), (from, "deep=1; Path=/x/y"), (from, "mid2=1; Path=/x"), (from, "mid1=1; Path=/x"),
            (from, "wide=1; Path=/x/y; Domain=e.org"), (from, "root=2; Path=/"),
        ])
        #expect(jar.names(for: "http://e.org/x/y/z") == ["deep", "wide", "mid2", "mid1", "root"])
    }

    @Test("keep the order of the fields in their response")
    func orderOfOneMoment() {
        var jar = CookieJar()
        for name in ["z", "a", "m", "b"] { jar.store("\(name)=1", from: url("http://e.org/"), now: epoch) }
        #expect(jar.header(for: url("http://e.org/"), now: epoch) == "z=1; a=1; m=1; b=1")
        jar.store("z=2", from: url("http://e.org/"), now: epoch + 1)
        #expect(jar.header(for: url("http://e.org/"), now: epoch + 1) == "z=2; a=1; m=1; b=1")
    }

    @Test("have paths whose length is counted in octets")
    func orderByOctets() {
        let jar = CookieJar([("http://e.org/", "ascii=1; Path=/ab"), ("http://e.org/", "wide=1; Path=/ab/é")])
        #expect(jar.cookies.map(\.path.utf8.count) == [3, 6])
        #expect(jar.names(for: "http://e.org/ab") == ["ascii"])
    }

    @Test("can be a host-only cookie and a domain cookie of the same name (RFC 6265bis §5.7)")
    func hostOnlyIsPartOfTheIdentity() {
        let jar = CookieJar([("http://e.org/", "a=host"), ("http://e.org/", "a=domain; Domain=e.org")])
        #expect(jar.cookies(for: url("http://e.org/"), now: epoch + 2).map(\.value) == ["host", "domain"])
        #expect(jar.cookies(for: url("http://w.e.org/"), now: epoch + 2).map(\.value) == ["domain"])
    }
}
