public import Foundation
public import WaystationProcesses
import WaystationTestSupport

/// Runs this program again in a process of its own, so that a crash or a hang there does not end this process.
@_spi(Processes)
public enum ChildProcess {
    /// The path of this program's file.
    public static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path

    /// Runs this program again.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the new process.
    ///   - home: An empty directory that is the user's home in the new process, so that no run gets the cookies,
    ///     credentials and caches of another.
    ///   - files: Files of the system, each with the file that the new process sees in its place.
    ///   - limit: The number of seconds without progress after which the process is killed.
    /// - Returns: How the process ended, and its output.
    /// - Throws: The error with which the process could not be started.
    public static func run(
        _ arguments: [String],
        home: URL,
        replacing files: [String: String] = [:],
        limit: Double
    ) throws -> SpawnedProcessOutcome {
        try run(arguments, environment: environment(home: home), replacing: files, limit: limit)
    }

    /// Runs this program again, with a whole environment.
    public static func run(
        _ arguments: [String],
        environment: [String: String],
        replacing files: [String: String],
        limit: Double
    ) throws -> SpawnedProcessOutcome {
        let command = ReplacedFiles(files, for: program, arguments)
        return try SpawnedProcess.run(
            command.executable,
            command.arguments,
            environment: environment,
            limit: limit
        )
    }

    /// The environment of a child: without proxies, which would come between it and the loopback, and without a slow
    /// backtrace after a crash.
    private static func environment(home: URL) -> [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
        environment["SWIFT_BACKTRACE"] = "enable=no"
        for name in ["HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"] {
            environment[name] = home.path
        }
        return environment
    }
}

@_spi(Processes)
extension SpawnedProcessOutcome {
    /// The first lines of standard error.
    public var complaint: String {
        String(decoding: errors, as: UTF8.self).split(separator: "\n").prefix(4).joined(separator: " | ")
    }
}
