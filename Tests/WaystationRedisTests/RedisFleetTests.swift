#if Redis
import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationRedis
import WaystationTestSupport
import WaystationTesting

@Suite("Machines that share a Redis server")
struct RedisFleetTests {
    /// A machine: a cache of its own, and a session.
    private func machine(
        _ server: RedisServer,
        _ change: (inout ResponseCache.Sharing) -> Void = { _ in }
    ) throws -> (session: URLSession, cache: ResponseCache) {
        let directory = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString)")
        let tier = try RedisTier(RedisOptions(host: "127.0.0.1", port: server.port))
        var sharing = ResponseCache.Sharing(in: tier, secret: Data(repeating: 7, count: 32))
        change(&sharing)
        let cache = try ResponseCache(directory: directory, sharing: sharing)
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard, tags: ["shop"]))]
            $0.cache = cache
        }
        return (URLSession(configuration: .ephemeral.intercepted(by: interceptor)), cache)
    }

    private func load(_ url: URL, by session: URLSession) async throws -> (body: String, isShared: Bool) {
        let (data, response) = try await session.data(for: URLRequest(url: url, timeoutInterval: 600))
        let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") ?? ""
        return (String(decoding: data, as: UTF8.self), status.contains("detail=shared"))
    }

    @Test("get the responses of each other, and what one removes is removed for all")
    func sharing() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let counter = try ScriptedOrigin { request in
            .ok("\(request.path) \(request.order)", fields: ["Cache-Control": "max-age=600"])
        }
        let (first, second) = (
            try machine(server) { $0.timeout = .seconds(60) }, try machine(server) { $0.timeout = .seconds(60) }
        )
        let (url, body) = await shared(by: first.session, second.session, from: counter)
        try await first.cache.remove(url)
        #expect(await eventually { (try? await load(url, by: second.session)).map { $0.body != body } ?? false })
    }

    /// Loads by two machines until the second one gets the response of the first.
    ///
    /// The first loads may begin before the machines have a connection.
    private func shared(
        by first: URLSession,
        _ second: URLSession,
        from origin: ScriptedOrigin
    ) async -> (url: URL, body: String) {
        let number = Counter()
        var (url, body) = (origin.url(), "")
        #expect(
            await eventually {
                url = origin.url("/\(await number.next())")
                body = (try? await load(url, by: first))?.body ?? ""
                let got = try? await load(url, by: second)
                return got?.body == body && got?.isShared ?? false
            }
        )
        return (url, body)
    }

    @Test("obey the purge of a tag or a group by one of them", arguments: ["tag", "group"], [PurgeKind.hard, .soft])
    func purge(by name: String, kind: PurgeKind) async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let origin = try ScriptedOrigin { request in
            .ok("\(request.order)", fields: ["Cache-Control": "max-age=600", "Cache-Groups": "\"prices\""])
        }
        let (first, second) = (
            try machine(server) { $0.timeout = .seconds(60) }, try machine(server) { $0.timeout = .seconds(60) }
        )
        let (url, body) = await shared(by: first.session, second.session, from: origin)
        await second.cache.flush()
        #expect(try await load(url, by: second.session).body == body)
        if name == "tag" {
            try await first.cache.purge(tag: "shop", as: kind)
        } else {
            try await first.cache.purge(group: "prices", of: url, as: kind)
        }
        #expect(try await load(url, by: first.session).body != body)
        #expect(await eventually { (try? await load(url, by: second.session)).map { $0.body != body } ?? false })
    }

    @Test("get every body right while the server is stopped under load, and use it again after that")
    func stopped() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let origin = try ScriptedOrigin { .ok("body of \($0.path)", fields: ["Cache-Control": "max-age=600"]) }
        let machines = [try machine(server), try machine(server)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                if number == 100 { server.pause() }
                if number == 300 { server.resume() }
                if number >= 16 { try await group.next() }
                group.addTask {
                    let url = origin.url("/\(number / 2)")
                    let got = try await load(url, by: machines[number % 2].session)
                    #expect(got.body == "body of /\(number / 2)")
                }
            }
            try await group.waitForAll()
        }
        // The breaker tries again by itself.
        let number = Counter()
        #expect(
            await eventually {
                let url = origin.url("/after/\(await number.next())")
                _ = try? await load(url, by: machines[0].session)
                return (try? await load(url, by: machines[1].session))?.isShared ?? false
            }
        )
    }
}

/// Counts.
private actor Counter {
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
#endif
