import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import WaystationHTTP
import WaystationStorage
import WaystationTesting

@testable import Waystation

@Suite("Clear-Site-Data")
struct ClearSiteDataTests {
    private struct Row: CustomTestStringConvertible, Sendable {
        let value: String
        let cache: Bool
        let cookies: Bool
        var testDescription: String { "\(value) → \(cache ? "cache" : "") \(cookies ? "cookies" : "")" }

        init(_ value: String, cache: Bool = false, cookies: Bool = false) {
            (self.value, self.cache, self.cookies) = (value, cache, cookies)
        }
    }

    @Test(
        "names the cache, the cookies or everything; other members are ignored",
        arguments: [
            Row("\"cache\"", cache: true), Row("\"cookies\"", cookies: true),
            Row("\"*\"", cache: true, cookies: true), Row("\"cookies\", \"cache\"", cache: true, cookies: true),
            Row(" \"storage\",\"cache\" ,", cache: true), Row("\"storage\", \"executionContexts\""), Row("cache"),
            Row("*"), Row("\"Cache\""), Row("\"cache"), Row("\"cache\"x"), Row(""),
        ]
    )
    private func reading(_ row: Row) {
        let demand = ClearSiteData(row.value)
        #expect(demand?.cache ?? false == row.cache)
        #expect(demand?.cookies ?? false == row.cookies)
    }

    /// A fixture whose origin demands to clear data with the response to `/out`.
    private func fixture(_ demand: String, isLoopbackSecure: Bool = true) throws -> CachingFixture {
        let cookies = CookieStore(rules: CookieRules(isTrustworthyLoopback: isLoopbackSecure))
        return try CachingFixture(cookies: cookies) { request in
            switch request.path {
            case "/out": .ok("out", fields: ["Clear-Site-Data": demand, "Set-Cookie": "after=1"])
            case "/in": .ok("in", fields: ["Set-Cookie": "user=1", "Cache-Control": "no-store"])
            default: .ok("page", fields: ["Cache-Control": "max-age=3600"])
            }
        }
    }

    @Test(
        "of a response over a secure connection drops the stored responses of its origin, and the cookies of its site",
        arguments: ["\"cache\"", "\"cookies\"", "\"*\"", "\"storage\""],
        [true, false]
    )
    func response(demand: String, isSecure: Bool) async throws {
        let fixture = try fixture(demand, isLoopbackSecure: isSecure)
        let cookies = try #require(fixture.interceptor.cookies)
        try await fixture.load("/in")
        try await fixture.load("/page")
        try await fixture.load("/out")
        let (dropsCache, dropsCookies) = (
            ["\"cache\"", "\"*\""].contains(demand), ["\"cookies\"", "\"*\""].contains(demand)
        )
        // The cookies that the response itself sets are new ones.
        let names = Set(cookies.cookies.map(\.name))
        #expect(names == (isSecure && dropsCookies ? ["after"] : ["user", "after"]))
        #expect(try await fixture.load("/page").isHit == !(isSecure && dropsCache))
    }

    @Test("keeps the data of other sites and origins")
    func others() async throws {
        let fixture = try fixture("\"*\"")
        let cookies = try #require(fixture.interceptor.cookies)
        try cookies.insert(Cookie(name: "other", value: "1", domain: "other.example", creation: fixture.clock.now()))
        let port = try #require(fixture.origin.url("/").port)
        let url = "http://127.0.0.1:\(port)"
        for text in ["https://127.0.0.1:\(port)/a", "\(url)5/a", "\(url)/a"] {
            let head = StoredHead(
                key: RequestKey(method: "GET", url: text),
                status: 200,
                headerFields: [.cacheControl: "max-age=3600"],
                requestTime: fixture.clock.now(),
                responseTime: fixture.clock.now()
            )
            try await fixture.cache.store.begin(head)?.commit()
        }
        try await fixture.load("/out")
        #expect(Set(cookies.cookies.map(\.name)) == ["other", "after"])
        let stored = try StoreInspector(directory: fixture.folder).entries().map(\.key.url)
        #expect(stored == ["\(url)5/a", "https://127.0.0.1:\(port)/a"])
    }

    @Test("of an upload that Foundation sends itself counts, too")
    func upload() async throws {
        let fixture = try fixture("\"cache\", \"cookies\"")
        try await fixture.load("/in")
        try await fixture.load("/page")
        var request = URLRequest(url: fixture.origin.url("/out"))
        request.httpMethod = "PUT"
        _ = try await fixture.session.upload(for: request, from: Data("x".utf8))
        #expect(fixture.interceptor.cookies?.cookies.map(\.name) == ["after"])
        #expect(try await !fixture.load("/page").isHit)
    }

    @Test("of a stored response has no effect when the response is served again")
    func stored() async throws {
        let cookies = CookieStore(rules: CookieRules(isTrustworthyLoopback: true))
        let fixture = try CachingFixture(.cacheFirst(for: .days(1)), cookies: cookies) { request in
            request.path == "/out"
                ? .ok("out", fields: ["Clear-Site-Data": "\"cookies\""]) : .ok(fields: ["Set-Cookie": "user=1"])
        }
        try await fixture.load("/out")
        try await fixture.load("/in")
        #expect(try await fixture.load("/out").isHit)
        #expect(cookies.cookies.map(\.name) == ["user"])
    }

    @Test("removes the cookies of a site from the storage of a configuration, over https, and keeps new ones")
    func storage() throws {
        let configuration = URLSessionConfiguration.ephemeral
        let storage = try #require(configuration.httpCookieStorage)
        func set(_ name: String, _ url: String, domain: String? = nil) throws {
            let field = "\(name)=1\(domain.map { "; Domain=\($0)" } ?? "")"
            SetCookies(configuration).take(try .head(200, ["Set-Cookie": field], at: url))
        }
        try set("host", "https://www.shop.example/")
        try set("site", "https://www.shop.example/", domain: "shop.example")
        try set("below", "https://img.shop.example/")
        try set("new", "https://www.shop.example/")
        try set("other", "https://shop2.example/")
        let data = SiteData(store: nil, storage: SetCookies(configuration), clearCache: nil)
        func clear(_ url: String, takesCookies: Bool = true) throws {
            let fields = ["Clear-Site-Data": "\"cookies\"", "Set-Cookie": "new=1"]
            data.clear(by: try .head(200, fields, at: url), to: try URLRequest("GET", url), takesCookies: takesCookies)
        }
        try clear("http://www.shop.example/")
        try clear("https://www.shop.example/", takesCookies: false)
        #expect(storage.cookies?.count == 5)
        try clear("https://www.shop.example/")
        #expect(Set((storage.cookies ?? []).map(\.name)) == ["new", "other"])
    }
}
