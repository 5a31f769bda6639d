import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationPacks
import WaystationTestSupport
import WaystationTesting

@Suite("A pack with an overlay from the network")
struct PackOverlayTests {
    private let folders: TemporaryDirectory
    private let packs: PackLibrary
    private let cache: ResponseCache
    private let clock = ManualClock()
    private let shop: ModuleID

    init() async throws {
        shop = try #require(ModuleID("shop"))
        folders = try TemporaryDirectory()
        try folders.write("packed one", to: "one/page.html")
        try folders.write("packed two", to: "two/page.html")
        packs = try PackLibrary(directory: folders.url.appending(path: "packs"))
        cache = try ResponseCache(directory: folders.url.appending(path: "http"), environment: .patient, now: clock.now)
    }

    private func install(_ folder: String, _ version: String, at origin: ScriptedOrigin) async throws {
        try await packs.install(
            folder: folders.url.appending(path: folder),
            as: PackDescription(
                module: shop,
                version: try #require(PackVersion(version)),
                baseURLs: [origin.url("/app/").absoluteString],
                released: clock.now()
            )
        )
    }

    private func session(_ strategy: CacheStrategy) throws -> (URLSession, Interceptor) {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .pack(overlay: strategy, orElse: .nowhere))]
            $0.packs = packs
            $0.cache = cache
            $0.now = clock.now
        }
        return (URLSession(configuration: .ephemeral.intercepted(by: interceptor)), interceptor)
    }

    private func load(_ session: URLSession, _ origin: ScriptedOrigin) async throws -> (text: String, status: String?) {
        let (data, response) = try await session.data(from: origin.url("/app/page.html"))
        await cache.flush()
        let head = response as? HTTPURLResponse
        return (String(decoding: data, as: UTF8.self), head?.value(forHTTPHeaderField: "Cache-Status"))
    }

    @Test("serves its own file after a 304, with the 304's fields")
    func unchanged() async throws {
        let released = CachingFixture.date()
        let origin = try ScriptedOrigin { request in
            request.value(of: "If-Modified-Since") == released
                ? .status(304, fields: ["Last-Modified": released, "Cache-Control": "max-age=60"])
                : .ok("asked for all")
        }
        try await install("one", "1.0", at: origin)
        let (session, _) = try session(.standard)
        #expect(try await load(session, origin).text == "packed one")
        #expect(origin.requestCount == 1)
        clock.advance(by: 59)
        let again = try await load(session, origin)
        #expect(again.text == "packed one")
        #expect(again.status == "Waystation; hit; ttl=1")
        #expect(origin.requestCount == 1)
    }

    @Test("serves a newer page in place of its own file, also without a network, and its files stay unchanged")
    func fresher() async throws {
        let origin = try ScriptedOrigin { _ in .ok("fresh", fields: ["ETag": "\"f\""]) }
        try await install("one", "1.0", at: origin)
        let (session, _) = try session(.revalidate)
        #expect(try await load(session, origin).text == "fresh")
        origin.stop()
        #expect(try await load(session, origin).text == "fresh")
        #expect(try await packs.verify().isEmpty)
    }

    @Test("serves a folder at the URL with its slash, and is not marked as damaged by the URL without it")
    func folder() async throws {
        let origin = try ScriptedOrigin { _ in .ok("fresh") }
        try folders.write("packed home", to: "one/index.html")
        try folders.write("packed guide", to: "one/guide/index.html")
        try await install("one", "1.0", at: origin)
        origin.stop()
        let (session, _) = try session(.networkFirst())
        let (data, response) = try await session.data(from: origin.url("/app/guide"))
        #expect(String(decoding: data, as: UTF8.self) == "packed guide")
        #expect(response.url == origin.url("/app/guide/"))
        let (home, base) = try await session.data(from: origin.url("/app"))
        #expect(String(decoding: home, as: UTF8.self) == "packed home")
        #expect(base.url == origin.url("/app/"))
        #expect(packs.module(shop)?.active?.isDamaged == false)
    }

    @Test("serves its own file without a network")
    func offline() async throws {
        let origin = try ScriptedOrigin { _ in .ok("fresh") }
        try await install("one", "1.0", at: origin)
        origin.stop()
        for strategy in [CacheStrategy.standard, .revalidate, .networkFirst()] {
            let (session, _) = try session(strategy)
            let (text, status) = try await load(session, origin)
            #expect(text == "packed one")
            #expect(status?.contains("detail=pack") == true)
        }
    }

    @Test("drops the overlay of the older version at an update, and of the newer one at a roll-back")
    func newVersion() async throws {
        let origin = try ScriptedOrigin { _ in .ok("fresh", fields: ["Cache-Control": "max-age=3600"]) }
        try await install("one", "1.0", at: origin)
        let (session, _) = try session(.revalidate)
        #expect(try await load(session, origin).text == "fresh")
        origin.stop()
        #expect(try await load(session, origin).text == "fresh")
        try await install("two", "1.1", at: origin)
        #expect(try await load(session, origin).text == "packed two")
        _ = try await packs.rollBack(shop, reason: "tested")
        #expect(try await load(session, origin).text == "packed one")
    }

    @Test("leaves a file that it does not have to the next route")
    func otherwise() async throws {
        let origin = try ScriptedOrigin { _ in .ok("fresh") }
        try await install("one", "1.0", at: origin)
        let (session, _) = try session(.revalidate)
        await #expect(throws: URLError.self) { try await session.data(from: origin.url("/app/other.html")) }
        #expect(origin.requestCount == 0)
    }

    @Test("is refused without a cache")
    func noCache() throws {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor {
                $0.rules = [.allow("https://a.example/**", via: .pack(overlay: .revalidate))]
                $0.packs = packs
            }
        }
        #expect(error?.code == .missingCache)
    }
}
