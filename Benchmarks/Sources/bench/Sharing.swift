import Foundation
import FoundationNetworking
import Measuring
import Waystation
import WaystationProcesses
import WaystationRedis
import WaystationTestSupport

extension Benchmark {
    /// The cost of responses that come from a shared tier on Redis, and of the tier for all other loads.
    static let sharing: [Benchmark] = [
        Benchmark("shared-hit/redis-get", "requests-cache-redis/shared-hit") {
            let server = try RedisServer()
            defer { server.stop() }
            let nginx = try Nginx()
            defer { nginx.stop() }
            let (rounds, count) = (9, 400)
            let turns = (rounds + 1 + peerRounds + 1) * Loads.Width.allCases.count
            let urls = try (0..<turns * count).map {
                try nginx.serve(Pattern.body($0, count: Sizes.small), at: "fresh/\($0).txt")
            }
            try await fill(server, with: urls)
            nginx.stop()
            // All bodies are in Redis now, and no server could answer in its place.
            let scratch = try ScratchDirectory()
            let reader = URLSession(configuration: try machine(in: scratch.url, server).configuration())
            let loads = Loads(reader, each: urls, count: count)
            let sharedHit: Loads.Way = ("shared-hit", { try await loads.microseconds(atATime: $0.rawValue) })
            return try await Loads.ratio(
                "shared-hit/redis-get",
                limit: 2.5,
                judged: .crowd,
                rounds: rounds,
                of: sharedHit,
                to: ("redis-get", { _ in try redisGet(server) })
            ) + peer(server, sharedHit)
        },
        Benchmark("with-dead-tier/without") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            let server = try RedisServer()
            defer { server.stop() }
            let (rounds, count) = (15, 300)
            let urls = try (0..<((rounds + 1) * Loads.Width.allCases.count + 1) * count).map {
                try nginx.serve(Pattern.body($0, count: Sizes.small), at: "fresh/\($0).txt")
            }
            let scratches = [try ScratchDirectory(), try ScratchDirectory()]
            let dead = URLSession(configuration: try machine(in: scratches[0].url, server).configuration(uncached))
            let plain = URLSession(
                configuration: try InterceptedSession.cached(in: scratches[1].url, keepsBodiesInMemory: false)
                    .configuration(uncached)
            )
            // The server accepts connections and answers nothing, which costs a caller the most. The first loads open
            // the circuit.
            server.pause()
            let loads = Loads(dead, each: urls, count: count)
            _ = try await loads.microseconds(atATime: 64)
            return try await Loads.ratio(
                "with-dead-tier/without",
                limit: 1.05,
                judged: .alone,
                rounds: rounds,
                of: ("with-dead-tier", loads),
                to: ("without", Loads(plain, each: urls.reversed(), count: count))
            )
        },
        Benchmark("local-hit-with-tier/without") {
            let server = try RedisServer()
            defer { server.stop() }
            let shared = try await Archive(
                entries: 1_000,
                way: .cached,
                keepsBodiesInMemory: true,
                sharing: redis(server)
            )
            let alone = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: true)
            for archive in [shared, alone] { _ = try await archive.loads(count: 2_000).microseconds(atATime: 64) }
            return try await Loads.ratio(
                "local-hit-with-tier/without",
                limit: 1.02,
                judged: .crowd,
                rounds: 31,
                of: ("local-hit-with-tier", shared.loads(count: 3_000)),
                to: ("without", alone.loads(count: 3_000))
            )
        },
    ]

    private static let peerRounds = 3

    private struct Failure: Error, CustomStringConvertible { let description: String }

    private static func redis(_ server: RedisServer) throws -> ResponseCache.Sharing {
        ResponseCache.Sharing(
            in: try RedisTier(RedisOptions(host: "127.0.0.1", port: server.port)),
            secret: Data("a secret of the benchmark".utf8)
        )
    }

    /// A machine that shares what it loads; its bodies are on disk only.
    private static func machine(in directory: URL, _ server: RedisServer) throws -> InterceptedSession {
        try .cached(in: directory, keepsBodiesInMemory: false, sharing: redis(server))
    }

    /// Stores all bodies in Redis.
    private static func fill(_ server: RedisServer, with urls: [URL]) async throws {
        let scratch = try ScratchDirectory()
        let writer = URLSession(configuration: try machine(in: scratch.url, server).configuration(uncached))
        _ = try await Loads(writer, urls, count: urls.count).microseconds(atATime: 16)
        // A response is shared after its load has ended; a machine with an empty disk sees when the last one is there.
        let deadline = ContinuousClock.now + .seconds(30)
        for url in [urls[0], urls[urls.count / 2], urls[urls.count - 1]] {
            while true {
                let scratch = try ScratchDirectory()
                let reader = URLSession(configuration: try machine(in: scratch.url, server).configuration(uncached))
                let (_, response) = try await reader.data(from: url)
                let status = (response as? HTTPURLResponse).map(InterceptedSession.cacheStatus) ?? ""
                if status.contains("detail=shared") { break }
                guard ContinuousClock.now < deadline else { throw Failure(description: "not shared: \(status)") }
            }
        }
    }

    /// The microseconds of a GET of as many bytes, as Redis' own benchmark measures them on one connection.
    private static func redisGet(_ server: RedisServer) throws -> Double {
        let outcome = try SpawnedProcess.run(
            "/usr/bin/redis-benchmark",
            ["-p", "\(server.port)", "-c", "1", "-n", "5000", "-d", "\(Sizes.small)", "-t", "set,get", "--csv"],
            limit: 60
        )
        // "GET","31446.54",…: the name and the requests in a second.
        let row = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first {
            $0.hasPrefix("\"GET\"")
        }
        let cells = row?.split(separator: ",").map { $0.trimmingCharacters(in: ["\""]) } ?? []
        guard cells.count > 1, let rate = Double(cells[1]), rate > 0 else {
            throw Failure(
                description: "redis-benchmark: \(outcome.ending) \(String(decoding: outcome.errors, as: UTF8.self))"
            )
        }
        return 1e6 / rate
    }

    /// A Python cache with its responses on the same Redis, beside as many loads at a time.
    private static func peer(_ server: RedisServer, _ sharedHit: Loads.Way) async throws -> [Figure] {
        let nginx = try Nginx()
        defer { nginx.stop() }
        let count = 200
        for number in 0..<count {
            _ = try nginx.serve(Pattern.body(number, count: Sizes.small), at: "fresh/\(number).txt")
        }
        let base = nginx.url("fresh")
        let cache = PythonCache.requestsCacheRedis
        return try await Loads.ratio(
            "requests-cache-redis/shared-hit",
            limit: 3,
            bound: .atLeast,
            judged: .crowd,
            rounds: peerRounds,
            of: (
                cache.rawValue,
                {
                    try cache.microseconds(base, urls: count, loads: 600, atATime: $0.rawValue, redis: server.port)
                }
            ),
            to: sharedHit
        )
    }
}
