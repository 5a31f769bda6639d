import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("Archive strategies, end to end")
struct ArchiveTests {
    private let directory: TemporaryDirectory
    private let clock = ManualClock()

    init() throws {
        directory = try TemporaryDirectory()
    }

    private struct Waystation {
        let session: URLSession
        let cache: ResponseCache
        let interceptor: Interceptor
    }

    private func waystation(
        _ strategy: CacheStrategy,
        storesCodedBodies: Bool = false,
        delegate: RecordingDelegate? = nil
    ) throws -> Waystation {
        let cache = try ResponseCache(directory: directory.url, environment: .patient, now: clock.now)
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(strategy))]
            $0.cache = cache
            $0.now = clock.now
            $0.schedule = clock.schedule
            $0.storesCodedBodies = storesCodedBodies
        }
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor)
        return Waystation(
            session: URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil),
            cache: cache,
            interceptor: interceptor
        )
    }

    private func text(_ session: URLSession, _ url: URL) async throws -> String {
        String(decoding: try await session.data(from: url).0, as: UTF8.self)
    }

    private func counting() throws -> ScriptedOrigin {
        let count = Mutex(0)
        return try ScriptedOrigin { _ in .ok("\(count.withLock { $0 += 1; return $0 })") }
    }

    @Test("cacheFirst serves until the limit, whatever the fields say, and loads again after it")
    func cacheFirst() async throws {
        let origin = try counting()
        let waystation = try waystation(.cacheFirst(for: .seconds(60)))
        #expect(try await text(waystation.session, origin.url("/a")) == "1")
        await waystation.cache.flush()
        clock.advance(by: 59)
        #expect(try await text(waystation.session, origin.url("/a")) == "1")
        #expect(try await text(waystation.session, origin.url("/a?x=2")) == "2", "another query is another resource")
        clock.advance(by: 1)
        #expect(try await text(waystation.session, origin.url("/a")) == "3")
    }

    @Test("a hit has Age and Cache-Status; a miss has a Cache-Status with the reason and `stored`")
    func cacheStatus() async throws {
        let origin = try counting()
        let waystation = try waystation(.cacheFirst(for: .seconds(60)))
        func field(_ name: String) async throws -> String? {
            let (_, response) = try await waystation.session.data(from: origin.url("/a"))
            return (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name)
        }
        #expect(try await field("Cache-Status") == "Waystation; fwd=uri-miss; fwd-status=200; stored")
        await waystation.cache.flush()
        clock.advance(by: 10)
        #expect(try await field("Cache-Status") == "Waystation; hit; ttl=50")
        #expect(try await field("Age") == "10")
    }

    @Test("another cache on the same directory serves the stored responses")
    func persistence() async throws {
        let origin = try counting()
        let first = try waystation(.cacheFirst(for: .days(1)))
        _ = try await text(first.session, origin.url("/a"))
        await first.cache.flush()
        let second = try waystation(.cacheOnly)
        #expect(try await text(second.session, origin.url("/a")) == "1")
    }

    @Test("networkFirst uses the network, and serves the stored response when there is none")
    func networkFirst() async throws {
        let origin = try counting()
        let url = origin.url("/a")
        let waystation = try waystation(.networkFirst())
        #expect(try await text(waystation.session, url) == "1")
        #expect(try await text(waystation.session, url) == "2")
        await waystation.cache.flush()
        origin.stop()
        clock.advance(by: 1_000_000)
        #expect(try await text(waystation.session, url) == "2")
        let miss = await #expect(throws: URLError.self) { try await text(waystation.session, origin.url("/other")) }
        #expect(miss?.code == .cannotConnectToHost)
    }

    @Test("networkFirst serves the stored response when the network is late, and stores the late response")
    func networkFirstTimeout() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Mutex(0)
        let origin = try ScriptedOrigin { _ in
            let number = count.withLock {
                $0 += 1; return $0
            }
            return number == 1 ? .ok("1") : .ok("\(number)").held(at: gate)
        }
        let waystation = try waystation(.networkFirst(timeout: .seconds(3)))
        #expect(try await text(waystation.session, origin.url("/a")) == "1")
        await waystation.cache.flush()
        var stored = waystation.interceptor.events.makeAsyncIterator()
        async let late = text(waystation.session, origin.url("/a"))
        _ = await origin.waitForRequests(2)
        clock.fire()
        #expect(try await late == "1")
        gate.open()
        while let event = await stored.next() {
            if case .stored = event.kind { break }
        }
        await waystation.cache.flush()
        #expect(try await text(try self.waystation(.cacheOnly).session, origin.url("/a")) == "2")
    }

    @Test("staleWhileRevalidate serves at once and renews in the background")
    func staleWhileRevalidate() async throws {
        let origin = try counting()
        let waystation = try waystation(.staleWhileRevalidate(upTo: .seconds(60)))
        #expect(try await text(waystation.session, origin.url("/a")) == "1")
        await waystation.cache.flush()
        var events = waystation.interceptor.events.makeAsyncIterator()
        #expect(try await text(waystation.session, origin.url("/a")) == "1")
        while let event = await events.next() {
            if case .stored = event.kind { break }
        }
        await waystation.cache.flush()
        #expect(try await text(waystation.session, origin.url("/a")) == "2")
        clock.advance(by: 61)
        #expect(try await text(waystation.session, origin.url("/a")) != "2")
    }

    @Test("cacheOnly never uses the network")
    func cacheOnly() async throws {
        let origin = try counting()
        let error = await #expect(throws: URLError.self) {
            try await text(try waystation(.cacheOnly).session, origin.url("/a"))
        }
        #expect(error?.code == .resourceUnavailable)
        #expect((error?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .notStored)
        #expect(origin.requestCount == 0)
    }

    @Test("a truncated body, an error and a response with no-store are not stored")
    func notKept() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/cut": .truncated(Data(repeating: 1, count: 1000), after: 400)
            case "/error": .status(500)
            default: .ok("secret", fields: ["Cache-Control": "private, no-store"])
            }
        }
        let waystation = try waystation(.cacheFirst(for: .days(1)))
        for path in ["/cut", "/error", "/secret"] { _ = try? await text(waystation.session, origin.url(path)) }
        await waystation.cache.flush()
        #expect(await waystation.cache.statistics.entries == 0)
    }

    @Test("a decoded body is stored without its coding, and served with its own length")
    func decodedBody() async throws {
        let text = String(repeating: "compressible ", count: 100)
        let zipped = try #require(Data(base64Encoded: Self.zippedText))
        let origin = try ScriptedOrigin { _ in
            .ok(zipped, fields: ["Content-Encoding": "gzip", "Content-Type": "text/plain", "Set-Cookie": "a=1"])
        }
        let waystation = try waystation(.cacheFirst(for: .days(1)), storesCodedBodies: true)
        #expect(try await self.text(waystation.session, origin.url("/z")) == text)
        await waystation.cache.flush()
        let (data, response) = try await waystation.session.data(from: origin.url("/z"))
        let head = try #require(response as? HTTPURLResponse)
        #expect(String(decoding: data, as: UTF8.self) == text)
        #expect(head.value(forHTTPHeaderField: "Content-Encoding") == nil)
        #expect(head.expectedContentLength == Int64(text.utf8.count))
        #expect(head.value(forHTTPHeaderField: "Set-Cookie") == nil)
        #expect(origin.requestCount == 1)
    }

    @Test("Vary keeps variants apart")
    func vary() async throws {
        let origin = try ScriptedOrigin { request in
            .ok(request.value(of: "Accept-Language") ?? "none", fields: ["Vary": "Accept-Language"])
        }
        let waystation = try waystation(.cacheFirst(for: .days(1)))
        func load(_ language: String) async throws -> String {
            var request = URLRequest(url: origin.url("/page"))
            request.setValue(language, forHTTPHeaderField: "Accept-Language")
            return String(decoding: try await waystation.session.data(for: request).0, as: UTF8.self)
        }
        for language in ["de", "fr", "de", "fr"] {
            #expect(try await load(language) == language)
            await waystation.cache.flush()
        }
        #expect(origin.requestCount == 2)
    }

    @Test("a response to a request with credentials is not served for other credentials")
    func partitions() async throws {
        let origin = try ScriptedOrigin { .ok($0.value(of: "Authorization") ?? "absent") }
        let waystation = try waystation(.cacheFirst(for: .days(1)))
        func load(_ token: String?) async throws -> String {
            var request = URLRequest(url: origin.url("/me"))
            request.setValue(token, forHTTPHeaderField: "Authorization")
            return String(decoding: try await waystation.session.data(for: request).0, as: UTF8.self)
        }
        for token in ["Bearer a", "Bearer b", nil, "Bearer a"] {
            #expect(try await load(token) == token ?? "absent")
            await waystation.cache.flush()
        }
        #expect(origin.requestCount == 3)
    }

    @Test("a permanent redirect is stored, and leads to the stored response of its target", arguments: [301, 308])
    func redirectedLoad(status: Int) async throws {
        let origin = try ScriptedOrigin { $0.path == "/a" ? .redirect(status, to: "/b") : .ok("there") }
        let waystation = try waystation(.cacheFirst(for: .days(1)))
        _ = try await text(waystation.session, origin.url("/a"))
        await waystation.cache.flush()
        let (data, response) = try await waystation.session.data(from: origin.url("/a"))
        #expect(data == Data("there".utf8))
        #expect(response.url == origin.url("/b"))
        #expect(origin.requestCount == 2)
    }

    @Test(
        "a temporary redirect is requested each time, and served from the cache without a network",
        arguments: [302, 303, 307]
    )
    func passingRedirect(status: Int) async throws {
        let origin = try ScriptedOrigin { $0.path == "/a" ? .redirect(status, to: "/b") : .ok("there") }
        let waystation = try waystation(.cacheFirst(for: .days(1)))
        for _ in 0..<2 {
            #expect(try await text(waystation.session, origin.url("/a")) == "there")
            await waystation.cache.flush()
        }
        #expect(origin.requests.map(\.path) == ["/a", "/b", "/a"])
        origin.stop()
        #expect(try await text(waystation.session, origin.url("/a")) == "there")
    }

    @Test("purging by URL, prefix and host leaves the rest")
    func purge() async throws {
        let origin = try counting()
        let waystation = try waystation(.cacheFirst(for: .days(1)))
        for path in ["/a", "/b/1", "/b/2"] { _ = try await text(waystation.session, origin.url(path)) }
        await waystation.cache.flush()
        #expect(try await waystation.cache.remove(origin.url("/a")) == 1)
        #expect(try await waystation.cache.remove(prefix: origin.url("/b/").absoluteString) == 2)
        #expect(try await waystation.cache.remove(host: "127.0.0.1") == 0)
        #expect(try await text(waystation.session, origin.url("/a")) == "4")
    }

    @Test("the request's own cache policy takes precedence over the strategy")
    func cachePolicy() async throws {
        let origin = try counting()
        let waystation = try waystation(.cacheFirst(for: .seconds(60)))
        func load(_ policy: URLRequest.CachePolicy) async throws -> String {
            let request = URLRequest(url: origin.url("/a"), cachePolicy: policy)
            return String(decoding: try await waystation.session.data(for: request).0, as: UTF8.self)
        }
        await #expect(throws: URLError.self) { try await load(.returnCacheDataDontLoad) }
        #expect(try await load(.useProtocolCachePolicy) == "1")
        await waystation.cache.flush()
        #expect(try await load(.reloadIgnoringLocalCacheData) == "2")
        await waystation.cache.flush()
        clock.advance(by: 3600)
        #expect(try await load(.returnCacheDataElseLoad) == "2")
        #expect(try await load(.returnCacheDataDontLoad) == "2")
    }

    /// `compressible ` a hundred times, compressed by gzip.
    private static let zippedText = "H4sIAAAAAAACA0vOzy0oSi0uzkzKSVVIHuWMckY5o5yRzQEAlotzNBQFAAA="
}
