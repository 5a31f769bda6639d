import Foundation
import FoundationNetworking
import Testing
import WaystationTesting
import WaystationTransport

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

    @Test("one head sets 50 cookies at most, and the last of them keeps its attributes")
    func manyInOneHead() throws {
        let date = "Wed, 21 Oct 2099 07:28:00 GMT"
        let value = (0..<2_000).map { "c\($0)=1; Expires=\(date); Secure" }.joined(separator: ", ")
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": value]))
        let cookies = configuration.httpCookieStorage?.cookies ?? []
        #expect(Set(cookies.map(\.name)) == Set((0..<50).map { "c\($0)" }))
        #expect(cookies.allSatisfy { $0.isSecure })
    }

    @Test("a cookie whose end is not read is not stored, because it might be Secure")
    func cut() throws {
        let value = "a=1; Path=/, b=" + String(repeating: "x,", count: 1_000) + "; Secure"
        SetCookies(configuration).take(try .head(200, ["Set-Cookie": value], at: "https://a.example/"))
        #expect(stored == ["a.example/ a=1"])
    }

    @Test("a domain has 180 cookies at most; those that it has can be replaced and removed")
    func manyInOneDomain() throws {
        let cookies = SetCookies(configuration)
        for part in 0..<5 {
            let value = (0..<40).map { "c\(part * 40 + $0)=1; Path=/\($0)" }.joined(separator: ", ")
            cookies.take(try .head(200, ["Set-Cookie": value], at: "https://a.example/"))
        }
        #expect(stored.count == 180)
        cookies.take(try .head(200, ["Set-Cookie": "b=1; Path=/"], at: "https://b.example/"))
        cookies.take(try .head(200, ["Set-Cookie": "c0=2; Path=/0, new=1; Path=/"], at: "https://a.example/"))
        #expect(stored.count == 181 && stored.contains("b.example/ b=1") && stored.contains("a.example/0 c0=2"))
        let past = "Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        cookies.take(try .head(200, ["Set-Cookie": "c1=1; Path=/1; \(past)"], at: "https://a.example/"))
        #expect(stored.count == 180 && !stored.contains("a.example/1 c1=1"))
        cookies.take(try .head(200, ["Set-Cookie": "new=1; Path=/, newer=1; Path=/"], at: "https://a.example/"))
        #expect(stored.count == 181 && stored.contains("a.example/ new=1"))
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
