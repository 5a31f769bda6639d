import Foundation
import FoundationNetworking
import Testing
import WaystationTesting

@testable import Waystation

@Suite("Cookies that responses set, in an HTTPCookieStorage")
struct SetCookiesTests {
    private let configuration = URLSessionConfiguration.ephemeral

    private var stored: Set<String> {
        Set((configuration.httpCookieStorage?.cookies ?? []).map { "\($0.domain)\($0.path) \($0.name)=\($0.value)" })
    }

    @Test("all cookies of a head are stored, whatever the case of the field and with commas in their dates")
    func several() throws {
        let value = "a=1; Path=/; Expires=Wed, 21 Oct 2099 07:28:00 GMT, b=2; Path=/p, c=3; Path=/"
        SetCookies(configuration).take(try .head(302, ["set-cookie": value], at: "https://a.example/p/x"))
        #expect(stored == ["a.example/ a=1", "a.example/p b=2", "a.example/ c=3"])
    }

    @Test("a session with the accept policy .never gets no cookies")
    func never() throws {
        configuration.httpCookieAcceptPolicy = .never
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": "a=1"]))
        #expect(stored == [])
    }

    @Test("the storage's own policy counts, too")
    func storagePolicy() throws {
        let storage = try #require(configuration.httpCookieStorage)
        storage.cookieAcceptPolicy = .never
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": "a=1"]))
        #expect(stored == [])
        storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
        configuration.httpCookieAcceptPolicy = .always
        var request = try URLRequest("GET", "https://a.example/")
        request.mainDocumentURL = URL(string: "https://other.example/")
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": "a=1"]), to: request)
        #expect(stored == [])
        request.mainDocumentURL = URL(string: "https://a.example/page")
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": "a=1"]), to: request)
        #expect(stored == ["a.example/ a=1"])
    }

    @Test(
        "onlyFromMainDocumentDomain takes the cookies of the main document's domain, whatever the scheme",
        arguments: [
            (nil, true), ("https://a.example/page", true), ("http://www.a.example/", true),
            ("https://b.example/", false), ("https://evil-a.example/", false), ("about:blank", false),
        ],
        [HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain, .always]
    )
    func mainDocument(document: (url: String?, isOwn: Bool), policy: HTTPCookie.AcceptPolicy) throws {
        configuration.httpCookieAcceptPolicy = policy
        var request = try URLRequest("GET", "https://a.example/")
        request.mainDocumentURL = document.url.flatMap { URL(string: $0) }
        // As the request is when its response arrives.
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": "a=1"]), to: ForwardingTag.tagging(request))
        #expect(stored.isEmpty == (!document.isOwn && policy == .onlyFromMainDocumentDomain))
    }

    @Test("a request that refuses cookies gets none, and the request's URL counts, not that of the head")
    func request() throws {
        var request = try URLRequest("GET", "https://a.example/")
        request.httpShouldHandleCookies = false
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": "a=1"]), to: request)
        #expect(stored == [])
        request.httpShouldHandleCookies = true
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": "a=1"], at: "https://b.example/"), to: request)
        #expect(stored == ["a.example/ a=1"])
    }

    @Test("one head sets 50 cookies at most, each with its attributes, and removes any number")
    func manyInOneHead() throws {
        let date = "Wed, 21 Oct 2099 07:28:00 GMT"
        let value = (0..<1_500).map { "c\($0)=1; Expires=\(date); Secure" }.joined(separator: ", ")
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": value]))
        let cookies = configuration.httpCookieStorage?.cookies ?? []
        #expect(Set(cookies.map(\.name)) == Set((0..<50).map { "c\($0)" }))
        #expect(cookies.allSatisfy { $0.isSecure })
        let past = "Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        let ends = (0..<200).reversed().map { "c\($0)=; \(past)" }.joined(separator: ", ")
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": ends]))
        #expect(stored.isEmpty)
        // In their order, although only the second one removes something.
        let both = "new=1; Path=/, new=; Path=/; \(past)"
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": both]))
        #expect(stored.isEmpty)
    }

    @Test("a value may have many commas; a cookie whose end is not read is not stored, because it might be Secure")
    func cut() throws {
        let list = String(repeating: "x,", count: 1_000)
        let rest = (0..<20).map { "c\($0)=\(String(repeating: "y", count: 4_000))" }.joined(separator: ", ")
        SetCookies(configuration).take(
            try .head(200, ["Set-Cookie": "a=\(list)z; Path=/, \(rest); Secure"], at: "https://a.example/")
        )
        let names = Set(stored.map { $0.prefix { $0 != "=" } })
        #expect(stored.contains("a.example/ a=\(list)z"))
        #expect(names.contains("a.example/ c0") && !names.contains("a.example/ c19"))
        let cookies = configuration.httpCookieStorage?.cookies ?? []
        #expect(cookies.allSatisfy { $0.name == "a" || $0.value.utf8.count == 4_000 })
    }

    @Test("a domain has 180 cookies at most: those that end first give way to new ones")
    func manyInOneDomain() throws {
        let cookies = SetCookies(configuration)
        func take(_ value: String, at url: String = "https://a.example/", now: Date = Date()) throws {
            cookies.take(try .head(200, ["Set-Cookie": value], at: url), now: now)
        }
        func end(_ seconds: Int) -> String {
            "Expires=Wed, 21 Oct 2099 07:\(10 + seconds / 60):\(String(100 + seconds % 60).suffix(2)) GMT"
        }
        for part in 0..<5 {
            try take((part * 40..<(part + 1) * 40).map { "c\($0)=1; \(end($0))" }.joined(separator: ", "))
        }
        #expect(stored == Set((20..<200).map { "a.example/ c\($0)=1" }))
        try take("b=1", at: "https://b.example/")
        try take("c20=2; \(end(500))")
        #expect(stored.count == 181 && stored.isSuperset(of: ["b.example/ b=1", "a.example/ c20=2"]))
        // A cookie of a session lasts longer than the others.
        try take("session=1, more=1")
        #expect(stored.count == 181 && stored.isSuperset(of: ["a.example/ session=1", "a.example/ more=1"]))
        #expect(stored.isDisjoint(with: ["a.example/ c21=1", "a.example/ c22=1"]))
        // Those that have ended do not count, although Foundation's storage may still have them.
        try take("late=1; \(end(500))", now: Date(timeIntervalSince1970: 4096249860))
        #expect(stored.count == 182 && stored.contains("a.example/ late=1"))
    }

    @Test("the default transport stores cookies as a plain session does, also those of redirects and refusals")
    func transport() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/moved": .status(302, fields: ["Location": "/x", "Set-Cookie": "moved=1"])
            case "/x": .ok("x", fields: ["Set-Cookie": "x=1; Path=/", "Set-Cookie": "y=2; Path=/sub"])
            default: .status(404, fields: ["Set-Cookie": "lost=1"])
            }
        }
        defer { origin.stop() }
        // With external links, the interceptor leaves no load to Foundation's own loader.
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://*:*/**", via: .network)]
            $0.externalLinks = ExternalLinks(schemes: ["mailto"]) { _ in }
        }
        let session = URLSession(configuration: configuration.intercepted(by: interceptor))
        _ = try await session.data(from: origin.url("/moved"))
        #expect(stored == ["127.0.0.1/ moved=1", "127.0.0.1/ x=1", "127.0.0.1/sub y=2"])
        #expect(origin.requests.last?.values(of: "Cookie") == ["moved=1"])
        _ = try await session.data(from: origin.url("/lost"))
        #expect(stored.contains("127.0.0.1/ lost=1"))
    }
}
