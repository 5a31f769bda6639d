public import Foundation
@_spi(Processes) public import WaystationTesting

/// This very program in a process of its own, so that a crash or a hang there is seen and survived here.
@_spi(Processes)
public enum ChildProcess {
    /// Where this program lies.
    public static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path

    /// Runs this program again.
    ///
    /// - Parameters:
    ///   - arguments: The arguments.
    ///   - home: An empty directory that stands for the user's home there, so that cookies, credentials and caches of
    ///     one run never reach another.
    ///   - limit: After how many seconds it is killed.
    /// - Returns: How it ended, and what it said.
    /// - Throws: The error with which the process could not be started.
    public static func run(_ arguments: [String], home: URL, limit: Double) throws -> SpawnedProcessOutcome {
        try SpawnedProcess.run(program, arguments, environment: environment(home: home), limit: limit)
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

@_spi(Processes)
extension SpawnedProcessOutcome {
    /// The first lines that it wrote to standard error.
    public var complaint: String {
        String(decoding: errors, as: UTF8.self).split(separator: "\n").prefix(4).joined(separator: " | ")
    }
}
