import Foundation
@_spi(Processes) import Measuring
import Synchronization
import WaystationProcesses

/// One row of the table: a burst in a child process, and the size of its directory.
struct Trial: Sendable {
    let limit: Int
    let width: Int
    /// How long the process rests after the burst, in seconds.
    let rest: Double

    /// Runs the bursts one after the other, and their rests side by side.
    static func run(_ trials: [Trial]) throws -> [Sizes] {
        let results = Mutex([Int: Result<Sizes, any Error>]())
        let done = DispatchGroup()
        for (number, trial) in trials.enumerated() {
            let burst = DispatchSemaphore(value: 0)
            done.enter()
            Thread.detachNewThread {
                let result = Result { try trial.run { burst.signal() } }
                results.withLock { $0[number] = result }
                // A trial that fails has no burst whose end it could report.
                burst.signal()
                done.leave()
            }
            burst.wait()
        }
        done.wait()
        return try results.withLock { results in try trials.indices.compactMap { try results[$0]?.get() } }
    }

    private func run(afterBurst: @escaping @Sendable () -> Void) throws -> Sizes {
        let scratch = try ScratchDirectory()
        let directory = scratch.url.appendingPathComponent("store")
        let sampler = Sampler(directory)
        let process = try SpawnedProcess(
            ChildProcess.program,
            ["--burst", directory.path, "\(limit)", "\(width)", "\(rest)"],
            output: .lines,
            errors: .lines
        )
        process.endInput()
        var result = Sizes(trial: self)
        while let line = process.readLine() {
            let words = line.split(separator: " ")
            switch words.first.flatMap({ Burst.Phase(rawValue: String($0)) }) {
            case .written:
                result.afterBurst = sampler.sample()
                afterBurst()
            case .rested:
                result.afterRest = sampler.sample()
                let numbers = words.dropFirst().compactMap { Int($0) }
                (result.responses, result.reported) = (numbers.first ?? 0, numbers.last ?? 0)
            case nil: result.wrong.append("\(name): \(line)")
            }
        }
        let ending = process.wait()
        if ending != .exited(0) { result.wrong.append("\(name): the process ended: \(ending)") }
        result.afterExit = sampler.sample()
        result.peak = sampler.end()
        result.judge()
        return result
    }

    var name: String { "\(limit >> 20) MiB, \(width) at a time" }
}

/// The sizes that one trial has measured, in bytes.
struct Sizes: Sendable {
    let trial: Trial
    var peak = 0
    var afterBurst = 0
    var afterRest = 0
    var afterExit = 0
    /// The store's own statistics after the rest.
    var responses = 0
    var reported = 0
    var wrong: [String] = []

    init(trial: Trial) { self.trial = trial }

    mutating func judge() {
        let most = trial.limit + trial.limit / 4 + (4 << 20)
        let bounds = [
            ("at its peak", peak, most), ("after the rest", afterRest, trial.limit),
            ("after the exit", afterExit, trial.limit),
        ]
        for (moment, size, bound) in bounds where size > bound || size == 0 {
            wrong.append("\(trial.name): \(size) bytes \(moment), at most \(bound) are allowed")
        }
    }

    static let heading = """
        | limit | at a time | peak | after the burst | after the rest | after the exit | statistics: responses | on disk |
        | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
        """

    var line: String {
        let sizes = [peak, afterBurst, afterRest, afterExit, responses, reported].map(Self.mebibytes)
        return "| \(trial.limit >> 20) MiB | \(trial.width) | \(sizes.joined(separator: " | ")) |"
    }

    private static func mebibytes(_ bytes: Int) -> String {
        String(format: "%.2f MiB", Double(bytes) / Double(1 << 20))
    }
}
