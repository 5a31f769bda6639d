import Foundation
@_spi(Processes) import Measuring
import Synchronization
@_spi(Processes) import WaystationTesting

/// Eight members on one store; now and then one is killed in the middle of its work, and another takes its place.
final class Crowd: Sendable {
    struct Tally: Sendable {
        var steps = 0
        var kills = 0
        var notes = 0
        var evicted = 0
        var wrong: [String] = []
    }

    private let directory: URL
    private let end: ContinuousClock.Instant
    private let tally = Mutex(Tally())
    private let reading = DispatchGroup()

    init(directory: URL, seconds: Double) {
        self.directory = directory
        end = .now + .seconds(seconds)
    }

    /// - Returns: What they did, when all have ended.
    func run(members: Int, seed: UInt64) throws -> Tally {
        var random = SeededRandom(seed: seed)
        var processes = try (0..<members).map { _ in try start(random.next()) }
        while ContinuousClock.now < end {
            Thread.sleep(forTimeInterval: Double.random(in: 0.05..<0.4, using: &random))
            guard ContinuousClock.now < end else { break }
            let seat = Int.random(in: 0..<members, using: &random)
            processes[seat].send(SIGKILL)
            judge(processes[seat].wait(), wasKilled: true)
            tally.withLock { $0.kills += 1 }
            processes[seat] = try start(random.next())
        }
        for process in processes {
            // Each ends by itself with the time that it was given.
            guard let ending = process.wait(atMost: 60) else {
                process.send(SIGKILL)
                process.wait()
                tally.withLock { $0.wrong.append("hung: it did not end for 60 s") }
                continue
            }
            judge(ending, wasKilled: false)
        }
        reading.wait()
        return tally.withLock { $0 }
    }

    private func start(_ seed: UInt64) throws -> SpawnedProcess {
        let rest = max(0.1, (end - .now) / .seconds(1))
        let process = try SpawnedProcess(
            ChildProcess.program,
            ["--member", directory.path, "\(seed)", "\(rest)"],
            output: .lines,
            errors: .lines
        )
        process.endInput()
        reading.enter()
        Thread.detachNewThread { [self] in
            while let line = process.readLine() { hear(line) }
            reading.leave()
        }
        return process
    }

    private func hear(_ line: String) {
        tally.withLock { tally in
            if line == "done 50" {
                tally.steps += 50
            } else if line.hasPrefix("evicted "), let count = Int(line.dropFirst(8)) {
                tally.evicted += count
            } else if line.hasPrefix("note ") {
                tally.notes += 1
                if tally.notes <= 3 { say(line) }
            } else if !["done 50", "note ", "evicted "].contains(where: { $0.hasPrefix(line) }) {
                tally.wrong.append(line)
            }
        }
    }

    private func judge(_ ending: SpawnedProcess.Ending, wasKilled: Bool) {
        switch ending {
        case .exited(0): break
        case .killed(SIGKILL) where wasKilled: break
        default: tally.withLock { $0.wrong.append("a process ended: \(ending)") }
        }
    }
}
