import Foundation
import FoundationNetworking
@_spi(Processes) import Measuring
import WaystationProcesses
import WaystationTestSupport

extension Benchmark {
    /// A fresh hit in Python caches, whose users expect the same as ours: the same bodies, one load at a time.
    static let peers = [
        Benchmark("requests-cache/fresh", "hishel/fresh", "requests-cache/client-disk", "hishel/client-disk") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            let count = 200
            let urls = try (0..<count).map {
                try nginx.serve(Pattern.body($0, count: Sizes.small), at: "fresh/\($0).txt")
            }
            let scratch = try ScratchDirectory()
            let session = URLSession(configuration: try InterceptedSession.cached(in: scratch.url).configuration())
            var random = SeededRandom(seed: 1)
            let loads = Loads(session, urls.shuffled(using: &random), count: 2_000)
            _ = try await loads.microseconds(atATime: 1)
            let folder = try ScratchDirectory()
            let client = try InterceptedSession.cached(in: folder.url, keepsBodiesInMemory: false).client()
            let direct = Loads(client, urls.shuffled(using: &random), count: 2_000)
            _ = try await direct.microseconds(atATime: 1)
            let base = nginx.url("fresh")
            let costs = try await interleaved(
                rounds: 3,
                [{ try await loads.microseconds(atATime: 1) }, { try await direct.microseconds(atATime: 1) }]
                    + PythonCache.local.map { cache in { try cache.microseconds(base, urls: count, loads: 600) } }
            )
            return PythonCache.local.enumerated().flatMap { index, cache in
                let cost = costs[index + 2]
                return [("fresh", costs[0], cache.limits?.session), ("client-disk", costs[1], cache.limits?.client)]
                    .map { name, ours, limit in
                        Figure(
                            "\(cache.rawValue)/\(name)",
                            cost / ours,
                            limit: limit,
                            bound: .atLeast,
                            against: ["\(name)-us": ours, "\(cache.rawValue)-us": cost]
                        )
                    }
            }
        }
    ]
}

/// A cache from PyPI, in a process of its own.
enum PythonCache: String {
    struct Failure: Error, CustomStringConvertible { let description: String }

    case requestsCache = "requests-cache"
    case requestsCacheMemory = "requests-cache-memory"
    case hishel
    /// One whose responses are in Redis, and so shared by all processes that use it.
    case requestsCacheRedis = "requests-cache-redis"

    /// The caches that keep their responses on this machine.
    static let local = [requestsCache, requestsCacheMemory, hishel]

    /// How many hits of a session, and of a direct client from disk, are at least as quick as one of this cache.
    ///
    /// A cache that keeps nothing beyond its process is only reported.
    var limits: (session: Double, client: Double)? {
        switch self {
        case .requestsCache: (5, 50)
        case .hishel: (5, 20)
        case .requestsCacheMemory, .requestsCacheRedis: nil
        }
    }

    /// Returns the microseconds of one hit, as the process itself measures them: without its start and without the
    /// filling.
    ///
    /// - Parameters:
    ///   - base: The URL below which nginx has the bodies.
    ///   - urls: The number of bodies.
    ///   - loads: The number of hits.
    ///   - width: The number of threads that load at a time.
    ///   - redis: The port of Redis, for a cache that needs one.
    /// - Returns: The cost of a hit.
    /// - Throws: ``Failure`` when the process does not measure it.
    func microseconds(
        _ base: URL,
        urls: Int,
        loads: Int,
        atATime width: Int = 1,
        redis: Int? = nil
    ) throws -> Double {
        let environment = ProcessInfo.processInfo.environment
        guard let python = environment["PEERS"].map({ $0 + "/bin/python" }) else {
            throw Failure(description: "PEERS is not set: run `make bench ONLY=hishel/fresh`, which makes the caches")
        }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Peers/fresh_hits.py").standardized
        let outcome = try SpawnedProcess.run(
            python,
            [script.path, rawValue, base.absoluteString, "\(urls)", "\(loads)", "\(Sizes.small)", "\(width)"]
                + (redis.map { ["\($0)"] } ?? []),
            environment: environment.filter { !$0.key.lowercased().hasSuffix("_proxy") },
            limit: 120
        )
        let output = String(decoding: outcome.output, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard outcome.ending == .exited(0), let cost = Double(output) else {
            throw Failure(description: "\(self): \(outcome.ending) \(outcome.complaint)")
        }
        return cost
    }
}
