import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("Content codings and the cache")
struct ContentCodingTests {
    private static let zipped = Data(base64Encoded: "H4sIAAAAAAACA0vOzy0oSi0uzkzKSVVIHuWMckY5o5yRzQEAlotzNBQFAAA=")

    private func fixture(storesCodedBodies: Bool) throws -> CachingFixture {
        let zipped = try #require(Self.zipped)
        return try CachingFixture(storesCodedBodies: storesCodedBodies) { request in
            guard request.value(of: "Accept-Encoding")?.contains("gzip") ?? false else {
                return .ok("plain", fields: ["Cache-Control": "max-age=60"])
            }
            return .ok(zipped, fields: ["Content-Encoding": "gzip", "Cache-Control": "max-age=60"])
        }
    }

    @Test("a request whose response may be stored asks for no content coding")
    func identity() async throws {
        let fixture = try fixture(storesCodedBodies: false)
        for _ in 0..<2 { #expect(try await fixture.load().body == "plain") }
        #expect(fixture.seen(0, "Accept-Encoding") == "identity")
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("a request that asks for a content coding gets it, and the response is not stored")
    func ofTheApp() async throws {
        let fixture = try fixture(storesCodedBodies: false)
        for _ in 0..<2 {
            let got = try await fixture.load("/", ["Accept-Encoding": "gzip"])
            #expect(got.body.hasPrefix("compressible"))
            #expect(got.cacheStatus.hasSuffix("fwd-status=200; detail=content-coding"))
        }
        #expect(fixture.seen(0, "Accept-Encoding") == "gzip")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("with storesCodedBodies the request asks for a coding, and the response is stored")
    func stored() async throws {
        let fixture = try fixture(storesCodedBodies: true)
        for _ in 0..<2 { #expect(try await fixture.load().body.hasPrefix("compressible")) }
        #expect(fixture.seen(0, "Accept-Encoding")?.contains("gzip") == true)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("a request whose response may not be stored has Foundation's own Accept-Encoding")
    func notStored() async throws {
        let fixture = try fixture(storesCodedBodies: false)
        try await fixture.load(method: "POST", body: Data("x".utf8))
        #expect(fixture.seen(0, "Accept-Encoding")?.contains("gzip") == true)
    }
}
