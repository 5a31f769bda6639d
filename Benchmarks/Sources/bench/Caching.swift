import Foundation
import FoundationNetworking
import Measuring
import Waystation
import WaystationNIO
import WaystationTestSupport
import WaystationTesting

extension Benchmark {
    /// The cost of a private HTTP cache for loads that use the network, and the trips that it saves.
    static let caching: [Benchmark] = [
        Benchmark("revalidated/plain") { try await revalidated("revalidated", limit: (1.25, 0.25), by: .urlSession) },
        Benchmark("nio-revalidated/plain") { try await revalidated("nio-revalidated", limit: (0.90, 0.25), by: .nio) },
        Benchmark("stored/plain") { try await stored("stored", limit: (1.30, 0.25), by: .urlSession) },
        Benchmark("nio-stored/plain") { try await stored("nio-stored", limit: (1.00, 0.20), by: .nio) },
        Benchmark("client-stored/plain") {
            try await stored("client-stored", limit: (0.65, 0.20), crowdLimit: 0.40, by: .nio) { try $0.client() }
        },
        Benchmark("collapsed-64") {
            let gate = try ScriptedOrigin.Gate()
            let origin = try ScriptedOrigin { request in
                guard request.path == "/one" else { return .ok("") }
                return .ok(Floor.body, fields: ["Cache-Control": "max-age=86400"]).held(at: gate)
            }
            defer { origin.stop() }
            let scratch = try ScratchDirectory()
            let session = URLSession(
                configuration: try InterceptedSession.cached(in: scratch.url).configuration(uncached)
            )
            let loads = 64
            let collapsed = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<loads {
                    group.addTask {
                        let (data, response) = try await session.data(from: origin.url("/one"))
                        guard data == Floor.body, let response = response as? HTTPURLResponse else {
                            throw Unexpected(url: origin.url("/one"), description: "not the origin's body")
                        }
                        return InterceptedSession.cacheStatus(response).contains("collapsed")
                    }
                }
                await origin.waitForRequests(1)
                // Loads begin in their order: when this later load has reached the origin, the others wait for the
                // answer.
                _ = try await session.data(from: origin.url("/other"))
                gate.open()
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            let trips = origin.requests.count { $0.path == "/one" }
            return [
                Figure(
                    "collapsed-64",
                    Double(trips),
                    unit: "trips",
                    limit: 1,
                    against: ["loads": Double(loads), "told-collapsed": Double(collapsed)]
                )
            ]
        },
    ]

    /// A configuration without Foundation's own cache, which would take some of the time.
    static var uncached: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = nil
        return configuration
    }

    private struct Unexpected: Error {
        let url: URL, description: String
    }

    /// Checks that the load behaves as the measurement requires.
    private static func expect(_ status: String, of url: URL, through session: URLSession) async throws {
        let (_, response) = try await session.data(from: url)
        let told = (response as? HTTPURLResponse).map(InterceptedSession.cacheStatus) ?? "no HTTP"
        guard told.contains(status) else { throw Unexpected(url: url, description: told) }
    }
}

extension Benchmark {
    /// Loads whose stored response the origin confirms, beside plain ones and relayed ones.
    private static func revalidated(
        _ name: String,
        limit: Limits,
        by engine: Interceptor.Carrier
    ) async throws -> [Figure] {
        let nginx = try Nginx()
        defer { nginx.stop() }
        let urls = try (0..<100).map {
            try nginx.serve(Pattern.body($0, count: Sizes.small), at: "asked/\($0).txt")
        }
        let scratch = try ScratchDirectory()
        let cached = URLSession(
            configuration: try InterceptedSession.cached(in: scratch.url, by: engine).configuration(uncached)
        )
        for url in urls { _ = try await cached.data(from: url) }
        try await expect("fwd=stale; fwd-status=304", of: urls[0], through: cached)
        return try await road(name, limit: limit, of: Loads(cached, urls, count: 600), by: engine) { session, _ in
            Loads(session, urls, count: 600)
        }
    }

    /// Loads that the cache stores, beside plain ones and relayed ones; by a direct client if there is one.
    private static func stored(
        _ name: String,
        limit: Limits,
        crowdLimit: Double? = nil,
        by engine: Interceptor.Carrier,
        client: (InterceptedSession) throws -> DirectClient? = { _ in nil }
    ) async throws -> [Figure] {
        let nginx = try Nginx()
        defer { nginx.stop() }
        let count = 300
        // All bodies are different, since the store keeps equal ones once. Each width has one more turn as a warm-up.
        let urls = try (0..<(rounds + 1) * Loads.Width.allCases.count * count).map {
            try nginx.serve(Pattern.body($0, count: Sizes.small), at: "fresh/\($0).txt")
        }
        let scratch = try ScratchDirectory()
        let intercepted = try InterceptedSession.cached(in: scratch.url, by: engine)
        let cached = URLSession(configuration: intercepted.configuration(uncached))
        // Each side takes the URLs in another order, so that none gets a file that nginx has just opened for another one.
        let half = urls.count / 2
        let orders = [Array(urls.reversed()), Array(urls[half...] + urls[..<half])]
        let direct = try client(intercepted).map { Loads($0, each: urls, count: count) }
        let measured = direct ?? Loads(cached, each: urls, count: count)
        let figures = try await road(name, limit: limit, crowdLimit: crowdLimit, of: measured, by: engine) {
            session,
            number in
            Loads(session, each: orders[number], count: count)
        }
        for url in [urls[0], urls[urls.count / 2], urls[urls.count - 1]] {
            try await expect("Waystation; hit", of: url, through: cached)
        }
        return figures
    }

    private static let rounds = 15

    /// The limits of a lone load, in plain loads: of all of it, and of what it takes more than a relayed one.
    private typealias Limits = (whole: Double, more: Double)

    /// Loads through a cache, beside plain loads, and beside loads that the same engine makes without a cache: the
    /// difference of the two is the cost of the cache's part of the road, in plain loads.
    private static func road(
        _ name: String,
        limit: Limits,
        crowdLimit: Double? = nil,
        of measured: Loads,
        by engine: Interceptor.Carrier,
        others: (_ session: URLSession, _ number: Int) -> Loads
    ) async throws -> [Figure] {
        let plain = others(URLSession(configuration: uncached), 0)
        let forwarding = try InterceptedSession.relayed(by: engine)
        let relayed = others(URLSession(configuration: forwarding.configuration(uncached)), 1)
        var figures: [Figure] = []
        for width in Loads.Width.allCases {
            let costs = try await interleaved(
                rounds: rounds,
                [plain, relayed, measured].map { loads in { try await loads.microseconds(atATime: width.rawValue) } }
            )
            let against = ["plain-us": costs[0], "relayed-us": costs[1], "\(name)-us": costs[2]]
            let suffix = width == .alone ? "" : width.suffix
            figures.append(
                Figure(
                    "\(name)/plain\(suffix)",
                    costs[2] / costs[0],
                    limit: width == .alone ? limit.whole : crowdLimit,
                    against: against
                )
            )
            figures.append(
                Figure(
                    "\(name)-relayed\(suffix)",
                    (costs[2] - costs[1]) / costs[0],
                    unit: "plain loads",
                    limit: width == .alone ? limit.more : nil,
                    against: against
                )
            )
        }
        return figures
    }
}
