public import Foundation
import Synchronization

/// A program that runs in a process of its own, for tests and measurements.
///
/// This replaces Foundation's `Process`, which sometimes reads past the end of a directory listing when it starts a
/// program and then crashes the whole process (Docs/FoundationTraps.md). Every call may be made from any thread.
public final class SpawnedProcess: Sendable {
    /// The way in which a process ended.
    public enum Ending: Equatable, Sendable {
        /// The process exited with this status.
        case exited(Int32)
        /// A signal killed the process.
        case killed(Int32)
        /// The process made no progress within its limit and was killed.
        case timedOut
        /// The kernel does not report how the process ended.
        case unknown
    }

    /// The destination of a process's standard output or standard error.
    public enum Output: Sendable {
        /// The bytes are discarded.
        case discarded
        /// A new file.
        ///
        /// Unlike a pipe, a file takes any amount without a reader.
        case file(URL)
        /// Lines for ``SpawnedProcess/readLine()``.
        case lines
    }

    /// The process ID.
    public let identifier: pid_t

    private struct State {
        var ending: Ending?
        var peakMemory = 0
        var processorMilliseconds = 0.0
    }
    private let state = Mutex(State())
    private let running = DispatchGroup()
    private let input: Descriptor
    private let lines: Descriptor

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The path of the program's file.
    ///   - arguments: The arguments, without the program's name.
    ///   - directory: The working directory; nil for that of this process.
    ///   - environment: The complete environment; nil for that of this process.
    ///   - output: The destination of standard output.
    ///   - errors: The destination of standard error; `.lines` means the same as standard output.
    /// - Throws: ``SpawnedProcessFailure`` when the program cannot be started.
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
        // Swift does not import glibc's file action that changes the directory.
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

    /// Starts a program whose standard input is a socket; its standard output is discarded.
    package init(connectedTo socket: Descriptor, _ executable: String, _ arguments: [String], errors: Output) throws {
        (identifier, input, lines) = try Self.start(
            [executable] + arguments,
            environment: ProcessInfo.processInfo.environment,
            socket: socket,
            output: .discarded,
            errors: errors
        )
        reap()
    }

    /// Only one process is started at a time: Swift does not import `pipe2`, so a child that is started between the
    /// creation of a pipe and its marking would inherit the pipe.
    private static let starting = Mutex(())

    private static func start(
        _ command: [String],
        environment: [String: String],
        socket: Descriptor? = nil,
        output: Output,
        errors: Output
    ) throws -> (pid_t, input: Descriptor, lines: Descriptor) {
        try starting.withLock { _ in
            let input = try Descriptor.pipe()
            let lines = try Descriptor.pipe()
            var actions = FileActions()
            defer { actions.destroy() }
            actions.use(socket ?? input.reading, as: STDIN_FILENO)
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

    /// Starts a program and waits until it ends, or kills it when it makes no progress.
    ///
    /// - Parameters:
    ///   - executable: The path of the program's file.
    ///   - arguments: The arguments, without the program's name.
    ///   - directory: The working directory; nil for that of this process.
    ///   - environment: The complete environment; nil for that of this process.
    ///   - limit: The number of seconds without progress after which the program is killed, as for
    ///     ``wait(idleFor:)``; nil for no limit.
    /// - Returns: How the program ended, and its output, of which at most 256 MiB are kept.
    /// - Throws: ``SpawnedProcessFailure`` when the program cannot be started.
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
        let inTime = process.wait(idleFor: limit) != nil
        if !inTime { process.send(SIGKILL) }
        let ending = process.wait()
        return SpawnedProcessOutcome(
            ending: inTime ? ending : .timedOut,
            output: Self.beginning(of: files[0]),
            errors: Self.beginning(of: files[1]),
            milliseconds: start.duration(to: .now) / .milliseconds(1),
            processorMilliseconds: process.state.withLock(\.processorMilliseconds),
            peakMemory: Double(process.state.withLock(\.peakMemory)) / 1024
        )
    }

    private static func beginning(of file: URL) -> Data {
        (try? FileHandle(forReadingFrom: file).read(upToCount: 256 << 20)) ?? Data()
    }

    /// Whether the process has not ended yet.
    public var isRunning: Bool { state.withLock { $0.ending == nil } }

    /// Waits until the process ends.
    ///
    /// - Returns: How the process ended.
    @discardableResult
    public func wait() -> Ending {
        running.wait()
        return state.withLock(\.ending) ?? .unknown
    }

    /// Waits until the process ends, or has made no progress for a number of seconds; nil waits without a limit.
    ///
    /// A process makes progress while it uses a processor, however slow the machine is. A process that has used one for
    /// ten times as long and does not end makes no progress either.
    ///
    /// - Returns: How the process ended, or nil when it is still running.
    public func wait(idleFor seconds: Double?) -> Ending? {
        guard let seconds else { return wait() }
        let begin = processorTime ?? 0
        var (last, busy) = (begin, ContinuousClock.now)
        while running.wait(timeout: .now() + min(1, seconds)) != .success {
            let (time, now) = (processorTime ?? last, ContinuousClock.now)
            if time != last { (last, busy) = (time, now) }
            if now - busy >= .seconds(seconds) || time - begin >= 10 * seconds { return nil }
        }
        return state.withLock(\.ending)
    }

    /// The time in seconds that processors have worked for the process and for its children that have ended; nil if that
    /// is not known.
    private var processorTime: Double? {
        // The name of the program may contain spaces; it ends with the last parenthesis.
        guard let file = FileHandle(forReadingAtPath: "/proc/\(identifier)/stat"), let data = try? file.readToEnd(),
            let end = data.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = String(decoding: data[(end + 1)...], as: UTF8.self).split(separator: " ")
        // proc_pid_stat(5): utime, stime, cutime and cstime are the fields 14 to 17, and the name is the second.
        guard fields.count > 14 else { return nil }
        return fields[11...14].reduce(0) { $0 + (Double($1) ?? 0) } / Double(sysconf(CInt(_SC_CLK_TCK)))
    }

    /// Sends a signal, unless the process has ended.
    public func send(_ signal: Int32) {
        // The process is reaped under this lock, so until then its ID belongs to no other process.
        state.withLock { if $0.ending == nil { _ = kill(identifier, signal) } }
    }

    /// Closes the process's standard input, which is open and empty until then.
    public func endInput() { input.close() }

    /// Writes text to the standard input of a process that runs; after ``endInput()`` it writes nothing.
    package func write(_ text: String) { input.write(Array(text.utf8)) }

    /// Waits for the next line of standard output and returns it without its line end; returns nil when there are no
    /// more lines.
    public func readLine() -> String? {
        var bytes: [UInt8] = []
        while let byte = lines.readByte() {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Reads lines of standard output until one meets a condition, on a thread of its own.
    ///
    /// - Returns: The lines; the last one meets the condition if the process wrote such a line before its end.
    package func lines(through isLast: @escaping @Sendable (String) -> Bool) async -> [String] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var lines: [String] = []
                while let line = readLine() {
                    lines.append(line)
                    if isLast(line) { break }
                }
                continuation.resume(returning: lines)
            }
        }
    }

    private func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1000 + Double(time.tv_usec) / 1000 }

    /// Waits for the end on a thread of its own, so that no thread of a pool is blocked.
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
                state.processorMilliseconds = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
            }
            running.leave()
        }
    }
}

/// The end of a process, and its output.
public struct SpawnedProcessOutcome: Sendable {
    /// How the process ended.
    public let ending: SpawnedProcess.Ending
    /// The bytes of standard output.
    public let output: Data
    /// The bytes of standard error.
    public let errors: Data
    /// The time from the process's start to its end.
    public let milliseconds: Double
    /// The time that processors worked for the process.
    public let processorMilliseconds: Double
    /// The peak memory of the process, in MiB.
    public let peakMemory: Double
}

/// An error that says why a process could not be started.
public struct SpawnedProcessFailure: Error, CustomStringConvertible {
    /// A sentence that says what went wrong, and what to do.
    public let description: String

    package init(_ description: String) { self.description = description }
}

/// The actions of a new process on its descriptors before its program begins.
struct FileActions {
    private var actions = posix_spawn_file_actions_t()

    init() { posix_spawn_file_actions_init(&actions) }

    mutating func destroy() { posix_spawn_file_actions_destroy(&actions) }

    mutating func use(_ descriptor: Descriptor, as number: CInt) { use(descriptor.number, as: number) }

    mutating func use(_ descriptor: CInt, as number: CInt) {
        posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    }

    mutating func open(_ path: String, as number: CInt) {
        posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }

    /// Starts a process in which no signal is blocked, with no other descriptors than the three standard ones.
    ///
    /// A process that inherited a connection would keep it open after this process has closed it. Swift does not import
    /// `posix_spawn_file_actions_addclosefrom_np`, so the descriptors are named one by one.
    mutating func spawn(_ command: [String], environment: [String: String]) throws -> pid_t {
        let inherited = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
        for descriptor in inherited where descriptor > STDERR_FILENO {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments = command.map { strdup($0) }
        let variables = environment.map { strdup("\($0)=\($1)") }
        defer { for pointer in arguments + variables { free(pointer) } }
        var child = pid_t()
        let code = posix_spawn(&child, command[0], &actions, &attributes, arguments + [nil], variables + [nil])
        guard code == 0 else {
            throw SpawnedProcessFailure("\(command[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        return child
    }
}
