import Foundation
import Synchronization
import WaystationProcesses
import WaystationTestSupport

/// Processes of this program that work side by side for a given time, while one after another is killed in the middle
/// of its work and replaced.
@_spi(Processes)
public final class Crowd: Sendable {
    /// The result of a crowd's run.
    public struct Outcome: Sendable {
        /// The number of processes that were killed.
        public var kills = 0
        /// One line for each process that ended by itself with a status other than 0, or did not end in time.
        public var wrong: [String] = []
    }

    /// Makes the arguments of the process on a seat, which should work for `seconds`.
    public typealias Arguments = @Sendable (_ seat: Int, _ seed: UInt64, _ seconds: Double) -> [String]

    private let end: ContinuousClock.Instant
    private let arguments: Arguments
    private let hear: @Sendable (String) -> Void
    private let reading = DispatchGroup()

    /// Makes a crowd; its working time begins now.
    ///
    /// - Parameters:
    ///   - seconds: How long the processes work, in seconds.
    ///   - arguments: Makes the arguments of each process.
    ///   - hear: Receives each line that a process prints, on a thread of that process.
    public init(seconds: Double, arguments: @escaping Arguments, hear: @escaping @Sendable (String) -> Void) {
        end = .now + .seconds(seconds)
        self.arguments = arguments
        self.hear = hear
    }

    /// Runs the processes, and returns when all of them have ended and `hear` has received every line.
    ///
    /// - Parameters:
    ///   - seats: How many processes work at a time.
    ///   - spared: How many of the seats, counted from the first, are never killed; fewer than `seats`.
    ///   - pause: The time between two kills, in seconds.
    ///   - seed: Determines the pauses, the seats and the seeds of the processes.
    /// - Returns: How the processes ended.
    /// - Throws: The error of starting a process.
    public func run(seats: Int, sparing spared: Int = 0, pause: ClosedRange<Double>, seed: UInt64) throws -> Outcome {
        var outcome = Outcome()
        var random = SeededRandom(seed: seed)
        var processes = try (0..<seats).map { try start($0, random.next()) }
        while true {
            Thread.sleep(forTimeInterval: Double.random(in: pause, using: &random))
            guard ContinuousClock.now < end else { break }
            let seat = Int.random(in: spared..<seats, using: &random)
            processes[seat].send(SIGKILL)
            outcome.judge(processes[seat].wait(), wasKilled: true)
            outcome.kills += 1
            processes[seat] = try start(seat, random.next())
        }
        for process in processes {
            // Each process ends by itself when its time is over.
            guard let ending = process.wait(idleFor: 60) else {
                process.send(SIGKILL)
                process.wait()
                outcome.wrong.append("a process hung: its time was over, and it did nothing for 60 s and did not end")
                continue
            }
            outcome.judge(ending, wasKilled: false)
        }
        reading.wait()
        return outcome
    }

    private func start(_ seat: Int, _ seed: UInt64) throws -> SpawnedProcess {
        let rest = max(0.1, (end - .now) / .seconds(1))
        let process = try SpawnedProcess(
            ChildProcess.program,
            arguments(seat, seed, rest),
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
}

extension Crowd.Outcome {
    fileprivate mutating func judge(_ ending: SpawnedProcess.Ending, wasKilled: Bool) {
        switch ending {
        case .exited(0): break
        case .killed(SIGKILL) where wasKilled: break
        default: wrong.append("a process ended: \(ending)")
        }
    }
}
