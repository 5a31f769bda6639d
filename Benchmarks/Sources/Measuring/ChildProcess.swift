public import Foundation
@_spi(Processes) public import WaystationTesting

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
    ///   - limit: The number of seconds after which the process is killed.
    /// - Returns: How the process ended, and its output.
    /// - Throws: The error with which the process could not be started.
    public static func run(_ arguments: [String], home: URL, limit: Double) throws -> SpawnedProcessOutcome {
        try SpawnedProcess.run(program, arguments, environment: environment(home: home), limit: limit)
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
