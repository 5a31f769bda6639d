import Foundation
import Measuring
import Synchronization
import WaystationTestSupport

/// Loads hostile responses, forwarded and stored, by both versions of HTTP, and a sound one on each session after every
/// hundredth.
struct HostileLoads {
    /// The number of loads of one session at the same time.
    ///
    /// More than six would exceed Foundation's limit for connections to a host, and time out while others stall.
    private static let width = 3
    private static let batch = 100
    /// Enough for any load whose server does not stall.
    ///
    /// A flood uses a processor for some seconds, which takes more than a minute beside other programs. A run in which
    /// nothing goes on ends earlier.
    private static let timeout: TimeInterval = 600
    /// For loads whose server stalls.
    private static let shortTimeout: TimeInterval = 0.3

    let count: Int
    let seed: UInt64

    /// The numbers of the responses that loads wait for.
    private final class Running: Sendable {
        private let numbers = Mutex<Set<Int>>([])

        func begin(_ number: Int) { numbers.withLock { _ = $0.insert(number) } }
        func end(_ number: Int) { numbers.withLock { _ = $0.remove(number) } }
        var list: [Int] { numbers.withLock { $0.sorted() } }
    }

    /// Returns whether every load ended as it should, and the memory stayed within the limit.
    func run() async throws -> Bool {
        let scratch = try ScratchDirectory()
        let server = try ServerProcess(seed: seed)
        var clients: [Client] = []
        for version in Version.allCases {
            clients.append(try Client(version, storingIn: nil))
            clients.append(try Client(version, storingIn: scratch.url.appendingPathComponent("\(version)")))
        }
        var tally = Tally()
        // The first loads make what every session keeps: connections, threads, tables of the store.
        await loadSound(-1, clients, server, &tally)
        let before = ProcessMemory.residentMiB
        let running = Running()
        let steps = StepCount()
        StallWatch.begin(patience: 120, progress: { steps.count }) { [count, seed] in
            say("hostile: HUNG; of \(count) responses from seed \(seed), the loads of \(running.list) do not end")
            exit(1)
        }
        for start in stride(from: 0, to: count, by: Self.batch) {
            let numbers = start..<min(count, start + Self.batch)
            for ended in await load(numbers, clients, server, running, steps) {
                tally.add(ended.number, kind: ended.kind, mayTimeOut: ended.stalls, ended.sighting)
            }
            await loadSound(numbers.upperBound, clients, server, &tally)
            if numbers.upperBound.isMultiple(of: 1000), numbers.upperBound < count {
                say("\(numbers.upperBound): \(tally.summary), " + String(format: "%.0f MiB", ProcessMemory.residentMiB))
            }
            guard server.isRunning else {
                say("the server ended by itself")
                return false
            }
        }
        let growth = ProcessMemory.peakMiB - before
        for line in tally.lines { say(line) }
        // In a short run on a busy machine more loads are under way at once, for the same memory in the end.
        let hasGrown = count >= judgedCount && growth >= memoryLimit
        let isGood = tally.wrong.isEmpty && !hasGrown
        say(
            "hostile: \(count) responses, \(tally.summary), \(tally.wrong.count) wrong, "
                + String(format: "peak +%.0f MiB", growth)
        )
        if hasGrown { say("the memory grew by more than \(Int(memoryLimit)) MiB") }
        return isGood
    }

    /// The end of one load.
    private struct Ended: Sendable {
        var number: Int
        var kind: String
        var stalls: Bool
        var sighting: Client.Sighting
    }

    /// Loads numbers: each session has its share of them, in several lanes.
    private func load(
        _ numbers: Range<Int>,
        _ clients: [Client],
        _ server: ServerProcess,
        _ running: Running,
        _ steps: StepCount
    ) async -> [Ended] {
        await withTaskGroup(of: [Ended].self) { group in
            for (place, client) in clients.enumerated() {
                // The last session uses HTTP/2 for one load at a time, so that no response breaks the connection of another.
                let width = place == clients.count - 1 ? 1 : Self.width
                for lane in 0..<width {
                    let share = numbers.filter {
                        $0 % clients.count == place && $0 / clients.count % width == lane
                    }
                    group.addTask {
                        var ended: [Ended] = []
                        for number in share {
                            running.begin(number)
                            ended.append(await load(number, client, server))
                            running.end(number)
                            steps.add()
                        }
                        return ended
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func load(_ number: Int, _ client: Client, _ server: ServerProcess) async -> Ended {
        let response = Answer.response(number, seed: seed, client.version)
        let stalls = response.ending == .stall
        let url = server.url(client.version, "hostile/\(number)")
        let sighting = await client.load(url, timeout: stalls ? Self.shortTimeout : Self.timeout)
        return Ended(number: number, kind: response.kind, stalls: stalls, sighting: sighting)
    }

    private func loadSound(_ number: Int, _ clients: [Client], _ server: ServerProcess, _ tally: inout Tally) async {
        for client in clients {
            let url = server.url(client.version, "sound/\(max(0, number))")
            let sighting = await client.load(url, timeout: Self.timeout, keepsBody: true)
            tally.addSound(max(0, number), client.version, sighting)
        }
    }
}
