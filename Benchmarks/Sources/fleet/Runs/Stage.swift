import Foundation
@_spi(Processes) import Measuring
import WaystationTestSupport

/// A run of the fleet: some processes with a directory each, one Redis, and one origin.
struct Stage {
    /// How the processes load, and what disturbs them.
    struct Script: Sendable {
        var processes = 8
        var seconds = 60.0
        /// The mean number of loads in a second, of each process.
        var rate = 40.0
        /// One in so many loads changes its page; 0 for none.
        var changes = 0
        /// How long a page may be used while it is renewed, in seconds.
        var staleness = 0
        /// The times between two kills in seconds; nil for no kill.
        var kills: ClosedRange<Double>?
        var faults: [Fault] = []
        var seed: UInt64 = 1
    }

    /// The results of a run.
    struct Results: Sendable {
        let script: Script
        let sums: Tally.Sums
        /// The requests at the origin, by the second of the run.
        let requests: [Int: Int]
        let originBytes: Int
        let changes: Int
        let kills: Int
        let wrong: [String]
        /// The counters that Redis reports, by their names.
        let counts: [String: Int]

        var requestCount: Int { requests.values.reduce(0, +) }
    }

    let site: URL

    /// Runs the processes, and returns when all of them have ended.
    func run(_ script: Script) throws -> Results {
        let scratch = try ScratchDirectory()
        let server = try RedisServer(directives: "maxmemory 64mb\nmaxmemory-policy volatile-lru")
        defer { server.stop() }
        let start = Date()
        let origin = try FleetOrigin(Site(site), staleness: script.staleness, since: start)
        defer { origin.stop() }
        let tally = Tally()
        let port = server.port
        let (site, base) = (site.path, origin.base)
        let crowd = Crowd(
            seconds: script.seconds,
            arguments: { seat, seed, rest in
                let part = Member.Part(
                    directory: scratch.url.appendingPathComponent("machine-\(seat)").path,
                    site: site,
                    origin: base,
                    port: port,
                    start: start.timeIntervalSince1970,
                    seconds: rest,
                    rate: script.rate,
                    changes: script.changes,
                    seed: seed
                )
                return ["--member"] + part.arguments
            },
            hear: tally.hear
        )
        Thread.detachNewThread { for fault in script.faults { fault.cause(in: server, since: start) } }
        let outcome = try crowd.run(
            seats: script.processes,
            // A pause that is longer than the run is one without kills.
            pause: script.kills ?? script.seconds...script.seconds,
            seed: script.seed
        )
        return Results(
            script: script,
            sums: tally.now,
            requests: origin.requests,
            originBytes: origin.bytes,
            changes: origin.changes,
            kills: outcome.kills,
            wrong: tally.now.wrong + outcome.wrong,
            counts: RedisConsole(port: port).counts()
        )
    }
}
