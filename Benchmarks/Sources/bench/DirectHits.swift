import Foundation
import Measuring
import Waystation

extension Benchmark {
    /// Hits of a direct client, in microseconds and beside the lowest cost of a task of Foundation's.
    static let directHits: [Benchmark] = [
        Benchmark("client-hit-memory") {
            let archive = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: true)
            _ = try await archive.loads(count: 2_000).microseconds(atATime: 64)
            return try await direct("client-hit-memory", limit: 3, archive.directLoads(count: 20_000))
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
    ]

    /// Measures the hits of a direct client beside the floor, alone and from two threads.
    private static func direct(_ name: String, limit: Double, _ loads: Loads) async throws -> [Figure] {
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
