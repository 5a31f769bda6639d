public import Foundation
import Glibc
import Synchronization

/// A run of this very program in a process of its own, so that a crash or a hang there is seen and survived here.
public struct ChildProcess: Sendable {
    /// How the process ended.
    public enum Ending: Equatable, Sendable {
        /// It exited with this status.
        case exited(Int32)
        /// A signal killed it.
        case killed(Int32)
        /// It was still running when time was up, and was killed then.
        case timedOut
    }

    /// How it ended.
    public let ending: Ending
    /// What it printed.
    public let output: Data
    /// The last lines that it wrote to standard error.
    public let complaint: String

    /// Runs this program again.
    ///
    /// - Parameters:
    ///   - arguments: The arguments.
    ///   - home: An empty directory that stands for the user's home there, so that cookies, credentials and caches of
    ///     one run never reach another.
    ///   - limit: After how many seconds it is killed.
    /// - Returns: How it ended, and what it said.
    /// - Throws: What starting a process throws.
    public static func run(_ arguments: [String], home: URL, limit: Double) throws -> ChildProcess {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments
        process.environment = environment(home: home)
        let output = home.appendingPathComponent("output")
        let complaint = home.appendingPathComponent("complaint")
        // Files, not pipes: a child that prints a lot never waits for us, and one that hangs holds nothing open.
        for file in [output, complaint] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: complaint)
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        let inTime = ended.wait(timeout: .now() + limit) == .success
        if !inTime {
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
        }
        let text = String(decoding: (try? Data(contentsOf: complaint)) ?? Data(), as: UTF8.self)
        return ChildProcess(
            ending: !inTime
                ? .timedOut
                : process.terminationReason == .exit
                    ? .exited(process.terminationStatus) : .killed(process.terminationStatus),
            output: (try? Data(contentsOf: output)) ?? Data(),
            complaint: text.split(separator: "\n").prefix(4).joined(separator: " | ")
        )
    }

    /// The environment of a child: no proxies between it and the loopback, no slow backtrace after a crash.
    private static func environment(home: URL) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
        environment["SWIFT_BACKTRACE"] = "enable=no"
        for name in ["HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"] {
            environment[name] = home.path
        }
        return environment
    }
}
