public import Foundation
import Glibc
import Synchronization

/// A program in a process of its own, for tests and measurements.
///
/// Not Foundation's `Process`: starting one reads past the end of a directory listing now and then, and takes the
/// whole process with it (Docs/FoundationTraps.md). Every call may be made from any thread.
@_spi(Processes)
public final class SpawnedProcess: Sendable {
    /// How a process ended.
    public enum Ending: Equatable, Sendable {
        /// It exited with this status.
        case exited(Int32)
        /// A signal killed it.
        case killed(Int32)
        /// It still ran at its limit, and was killed then.
        case timedOut
        /// The kernel does not say.
        case unknown
    }

    /// Where what a process writes to standard output or standard error goes.
    public enum Output: Sendable {
        /// Nowhere.
        case discarded
        /// Into a new file. Files take any amount without anyone reading meanwhile, as a pipe does not.
        case file(URL)
        /// To ``SpawnedProcess/readLine()``.
        case lines
    }

    /// The kernel's number of the process.
    public let identifier: pid_t

    private struct State {
        var ending: Ending?
        var peakMemory = 0
    }
    private let state = Mutex(State())
    private let running = DispatchGroup()
    private let input: Descriptor
    private let lines: Descriptor

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: Where it lies.
    ///   - arguments: Its arguments, its name not among them.
    ///   - directory: Where it works; nil is where this process works.
    ///   - environment: All of its environment; nil is that of this process.
    ///   - output: Where its standard output goes.
    ///   - errors: Where its standard error goes; `.lines` is where standard output goes.
    /// - Throws: ``SpawnedProcessFailure`` when it cannot be started.
    public init(
        _ executable: String,
        _ arguments: [String] = [],
        in directory: URL? = nil,
        environment: [String: String]? = nil,
        output: Output = .discarded,
        errors: Output = .discarded
    ) throws {
        guard FileManager.default.isExecutableFile(atPath: executable) else {
            throw SpawnedProcessFailure("\(executable) is not installed: run `make deps`")
        }
        // Swift does not see glibc's action that changes the directory.
        let command =
            directory.map { ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, $0.path, executable] } ?? [executable]
        (identifier, input, lines) = try Self.start(
            command + arguments,
            environment: environment ?? ProcessInfo.processInfo.environment,
            output: output,
            errors: errors
        )
        reap()
    }

    /// One start at a time: Swift does not see `pipe2`, so that a child started between the making of a pipe and its
    /// marking would inherit it.
    private static let starting = Mutex(())

    private static func start(
        _ command: [String],
        environment: [String: String],
        output: Output,
        errors: Output
    ) throws -> (pid_t, input: Descriptor, lines: Descriptor) {
        try starting.withLock { _ in
            let input = try Descriptor.pipe()
            let lines = try Descriptor.pipe()
            var actions = FileActions()
            defer { actions.destroy() }
            actions.use(input.reading, as: STDIN_FILENO)
            switch output {
            case .discarded: actions.open("/dev/null", as: STDOUT_FILENO)
            case .file(let url): actions.open(url.path, as: STDOUT_FILENO)
            case .lines: actions.use(lines.writing, as: STDOUT_FILENO)
            }
            switch errors {
            case .discarded: actions.open("/dev/null", as: STDERR_FILENO)
            case .file(let url): actions.open(url.path, as: STDERR_FILENO)
            case .lines: actions.use(STDOUT_FILENO, as: STDERR_FILENO)
            }
            let identifier = try withExtendedLifetime((input, lines)) {
                try actions.spawn(command, environment: environment)
            }
            return (identifier, input.writing, lines.reading)
        }
    }

    /// Starts a program and waits for its end, up to a limit in seconds, when it is killed.
    ///
    /// - Parameters:
    ///   - executable: Where it lies.
    ///   - arguments: Its arguments, its name not among them.
    ///   - directory: Where it works; nil is where this process works.
    ///   - environment: All of its environment; nil is that of this process.
    ///   - limit: After how many seconds it is killed; nil is never.
    /// - Returns: How it ended, and what it wrote.
    /// - Throws: ``SpawnedProcessFailure`` when it cannot be started.
    public static func run(
        _ executable: String,
        _ arguments: [String] = [],
        in directory: URL? = nil,
        environment: [String: String]? = nil,
        limit: Double? = nil
    ) throws -> SpawnedProcessOutcome {
        let files = ["out", "err"].map {
            FileManager.default.temporaryDirectory.appending(path: "process-\(UUID().uuidString).\($0)")
        }
        defer { for file in files { try? FileManager.default.removeItem(at: file) } }
        let start = ContinuousClock.now
        let process = try SpawnedProcess(
            executable,
            arguments,
            in: directory,
            environment: environment,
            output: .file(files[0]),
            errors: .file(files[1])
        )
        process.endInput()
        let inTime = process.wait(atMost: limit) != nil
        if !inTime { process.send(SIGKILL) }
        let ending = process.wait()
        return SpawnedProcessOutcome(
            ending: inTime ? ending : .timedOut,
            output: (try? Data(contentsOf: files[0])) ?? Data(),
            errors: (try? Data(contentsOf: files[1])) ?? Data(),
            milliseconds: start.duration(to: .now) / .milliseconds(1),
            peakMemory: Double(process.state.withLock(\.peakMemory)) / 1024
        )
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool { state.withLock { $0.ending == nil } }

    /// Waits for its end.
    ///
    /// - Returns: How it ended.
    @discardableResult
    public func wait() -> Ending {
        running.wait()
        return state.withLock(\.ending) ?? .unknown
    }

    /// Waits for its end, up to a number of seconds; nil waits as long as it runs.
    ///
    /// - Returns: How it ended, or nil when it still runs.
    public func wait(atMost seconds: Double?) -> Ending? {
        guard let seconds else { return wait() }
        guard running.wait(timeout: .now() + seconds) == .success else { return nil }
        return state.withLock(\.ending)
    }

    /// Sends a signal, unless it has ended.
    public func send(_ signal: Int32) {
        // Under the lock under which it is reaped: until then its number is nobody else's.
        state.withLock { if $0.ending == nil { _ = kill(identifier, signal) } }
    }

    /// Ends its standard input, which is open and empty until then.
    public func endInput() { input.close() }

    /// The next line of standard output without its end, or nil when there is none to come; blocks until then.
    public func readLine() -> String? {
        var bytes: [UInt8] = []
        while let byte = lines.readByte() {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// A thread of its own waits for the end: none of a pool is kept.
    private func reap() {
        running.enter()
        Thread.detachNewThread { [self] in
            var information = siginfo_t()
            while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            state.withLock { state in
                var status: Int32 = 0
                var usage = rusage()
                let isKnown = wait4(identifier, &status, 0, &usage) == identifier
                let signal = status & 0x7f
                state.ending = !isKnown ? .unknown : signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal)
                state.peakMemory = usage.ru_maxrss
            }
            running.leave()
        }
    }
}

/// How a process ended, and what it wrote.
@_spi(Processes)
public struct SpawnedProcessOutcome: Sendable {
    /// How it ended.
    public let ending: SpawnedProcess.Ending
    /// What it wrote to standard output.
    public let output: Data
    /// What it wrote to standard error.
    public let errors: Data
    /// How long it took from its start to its end.
    public let milliseconds: Double
    /// The most memory that it had at a time, in MiB.
    public let peakMemory: Double
}

/// Why a process could not be started.
@_spi(Processes)
public struct SpawnedProcessFailure: Error, CustomStringConvertible {
    /// What went wrong, and what to do.
    public let description: String

    init(_ description: String) { self.description = description }
}
