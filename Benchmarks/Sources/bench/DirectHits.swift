import Foundation
import FoundationNetworking
import Measuring
import Waystation
import WaystationNIO
import WaystationPacks
import WaystationTestSupport

extension Benchmark {
    /// Hits of a direct client, in microseconds and beside the lowest cost of a task of Foundation's.
    static let directHits: [Benchmark] = [
        Benchmark("client-hit-memory") {
            let archive = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: true)
            _ = try await archive.loads(count: 2_000).microseconds(atATime: 64)
            return try await direct("client-hit-memory", limit: 3, archive.directLoads(count: 20_000))
        },
        Benchmark("client-hit-memory-request") {
            let archive = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: true)
            _ = try await archive.loads(count: 2_000).microseconds(atATime: 64)
            return try await direct("client-hit-memory-request", limit: nil, archive.directRequests(count: 20_000))
        },
        Benchmark("client-hit-memory-message", "client-hit-memory-message-once") {
            let archive = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: true)
            _ = try await archive.loads(count: 2_000).microseconds(atATime: 64)
            let names = [("client-hit-memory-message", true), ("client-hit-memory-message-once", false)]
            var figures: [Figure] = []
            for (name, isRemembered) in names {
                let loads = archive.directMessages(count: 20_000, areRemembered: isRemembered)
                figures += try await direct(name, limit: isRemembered ? 3 : nil, loads)
            }
            return figures
        },
        Benchmark("client-hit-disk") {
            let archive = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: false)
            return try await direct("client-hit-disk", limit: 14, archive.directLoads(count: 10_000))
        },
        Benchmark("client-hit-file") {
            let scratch = try ScratchDirectory()
            try Floor.body.write(to: scratch.url.appendingPathComponent("body.txt"))
            let client = try InterceptedSession.files(in: scratch.url, at: url("http://files.test/")).client()
            let loads = Loads(client, [url("http://files.test/body.txt")], count: 20_000)
            return try await direct("client-hit-file", limit: 4, loads)
        },
        Benchmark("client-hit-pack") {
            let scratch = try ScratchDirectory()
            let client = try InterceptedSession.packs(try await .ofOneFile(in: scratch)).client()
            let loads = Loads(client, [url("http://packs.test/body.txt")], count: 20_000)
            return try await direct("client-hit-pack", limit: 4, loads)
        },
        Benchmark("client-relayed/plain", "nio-client-relayed/plain") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            try Floor.body.write(to: nginx.root.appendingPathComponent("body.txt"))
            let urls = [nginx.url("body.txt")]
            let plain = Loads(URLSession(configuration: .default), urls, count: 600)
            var figures: [Figure] = []
            for (name, engine) in [("", Interceptor.Carrier.urlSession), ("nio-", .nio)] {
                let client = try InterceptedSession.network(by: engine).client()
                figures += try await Loads.ratio(
                    "\(name)client-relayed/plain",
                    limit: nil,
                    judged: .alone,
                    of: ("\(name)client", Loads(client, urls, count: 600)),
                    to: ("plain", plain)
                )
            }
            return figures
        },
    ]

    /// Measures the hits of a direct client beside the floor, alone and from two threads.
    static func direct(_ name: String, limit: Double?, _ loads: Loads) async throws -> [Figure] {
        let costs = try await interleaved(
            rounds: 15,
            [
                { try await floor.loads.microseconds(atATime: 1) }, { try await loads.microseconds(atATime: 1) },
                { try await loads.microseconds(atATime: 2) },
            ]
        )
        return [
            Figure(name, costs[1], unit: "us", limit: limit),
            Figure("\(name)/floor", costs[1] / costs[0], against: ["floor-us": costs[0], "\(name)-us": costs[1]]),
            Figure("\(name)-two-threads", 1_000_000 / costs[2], unit: "1/s"),
        ]
    }
}
